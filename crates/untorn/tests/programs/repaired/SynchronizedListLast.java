package repaired;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import schedule.Pause;

/** Repaired: Stack.pop is one step now; before: size and remove of a synchronized list. */
public class SynchronizedListLast {
    static class Stack {
        final List<String> items = Collections.synchronizedList(new ArrayList<>(List.of("a", "b", "c")));
        String pop() {
            synchronized (items) {
                int size = items.size();
                if (size == 0) {
                    return null;
                }
                Pause.here();
                return items.remove(size - 1);
            }
        }
    }

    public static void main(String[] args) {
        Stack c = new Stack();
        Pause.race(() -> { try { c.pop(); } catch (IndexOutOfBoundsException torn) { } }, () -> c.pop());
    }
}
