package repaired;

import java.util.ArrayList;
import java.util.List;
import schedule.Pause;

/** Repaired: Board.finish is one step now; before: a task is in no list for a moment. */
public class MoveBetweenLists {
    static class Board {
        final List<String> open = new ArrayList<>(List.of("t"));
        final List<String> done = new ArrayList<>();
        synchronized void finish(String task) {
            open.remove(task);
            Pause.here();
            done.add(task);
        }
        synchronized boolean knows(String task) {
            return open.contains(task) || done.contains(task);
        }
    }

    public static void main(String[] args) {
        Board c = new Board();
        Pause.race(() -> c.finish("t"), () -> c.knows("t"));
    }
}
