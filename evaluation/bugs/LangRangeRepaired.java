import java.util.ArrayList;
import java.util.List;
import org.apache.commons.lang3.Range;

/** As {@code LangRange}, with the class that replaced it. */
public class LangRangeRepaired {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(100, 2, number -> {
            List<Range<Integer>> ranges = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                ranges.add(Range.between(i, i + number));
            }
            Runnable hash = () -> ranges.forEach(Range::hashCode);
            return new Runnable[] {hash, hash};
        });
    }
}
