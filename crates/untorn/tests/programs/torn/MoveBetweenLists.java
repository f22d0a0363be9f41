package torn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import schedule.Pause;

/** Torn: Board.finish: a task is in no list for a moment. */
public class MoveBetweenLists {
    static class Board {
        final List<String> open = Collections.synchronizedList(new ArrayList<>(List.of("t")));
        final List<String> done = Collections.synchronizedList(new ArrayList<>());
        void finish(String task) {
            open.remove(task);
            Pause.here();
            done.add(task);
        }
        boolean knows(String task) {
            return open.contains(task) || done.contains(task);
        }
    }

    public static void main(String[] args) {
        Board c = new Board();
        Pause.race(() -> c.finish("t"), () -> c.knows("t"));
    }
}
