import net.logstash.logback.marker.Markers;
import org.slf4j.Marker;

/** One thread asks a marker what it contains while another one takes a reference away: size and element are read without the lock. */
public class LogstashMarker {
    public static void main(String[] arguments) throws Exception {
        Marker[] references = new Marker[4];
        for (int i = 0; i < references.length; i++) {
            references[i] = Markers.append("reference-" + i, i);
        }
        Marker absent = Markers.append("absent", "");
        Rounds.race(400, 2, number -> {
            Marker marker = Markers.append("marker", "");
            for (Marker reference : references) {
                marker.add(reference);
            }
            return new Runnable[] {
                () -> {
                    for (int i = 0; i < 4; i++) {
                        marker.contains(absent);
                    }
                },
                () -> {
                    for (Marker reference : references) {
                        marker.remove(reference);
                    }
                },
            };
        });
    }
}
