import java.util.ArrayList;
import java.util.List;
import org.apache.commons.lang.math.IntRange;

/** Two threads ask a new range for its hash code: it is computed in the field that holds the result. */
public class LangRange {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(100, 2, number -> {
            List<IntRange> ranges = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                ranges.add(new IntRange(i, i + number));
            }
            Runnable hash = () -> ranges.forEach(IntRange::hashCode);
            return new Runnable[] {hash, hash};
        });
    }
}
