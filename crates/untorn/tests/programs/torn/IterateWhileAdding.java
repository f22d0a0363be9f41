package torn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import schedule.Pause;

/** Torn: Report.print: a synchronized list is iterated without its lock. */
public class IterateWhileAdding {
    static class Report {
        final List<String> lines = Collections.synchronizedList(new ArrayList<>(List.of("a", "b")));
        int print() {
            int length = 0;
            for (int i = 0; i < lines.size(); i++) {
                length += lines.get(i).length();
                Pause.here();
            }
            return length;
        }
    }

    public static void main(String[] args) {
        Report c = new Report();
        Pause.race(() -> { try { c.print(); } catch (IndexOutOfBoundsException torn) { } }, () -> c.lines.remove(0));
    }
}
