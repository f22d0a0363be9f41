import org.apache.logging.log4j.Marker;
import org.apache.logging.log4j.MarkerManager;

/** One thread asks for a marker's parents while another one takes the last of them away: the field is tested, and read again. */
public class LogMarker {
    public static void main(String[] arguments) throws Exception {
        Marker parent = MarkerManager.getMarker("parent");
        Marker child = MarkerManager.getMarker("child");
        Rounds.race(200, 2, number -> new Runnable[] {
            () -> {
                for (int i = 0; i < 100; i++) {
                    child.getParents();
                }
            },
            () -> {
                for (int i = 0; i < 100; i++) {
                    child.addParents(parent);
                    child.remove(parent);
                }
            },
        });
    }
}
