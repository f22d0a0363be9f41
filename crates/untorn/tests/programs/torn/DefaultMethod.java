package torn;

import java.util.ArrayDeque;
import java.util.Deque;
import schedule.Pause;

/** Torn: Bag.addIfRoom: a default method of an interface asks and acts. */
public class DefaultMethod {
    interface Bag {
        int size();
        void add(String item);
        default boolean addIfRoom(String item) {
            if (size() >= 1) {
                return false;
            }
            Pause.here();
            add(item);
            return true;
        }
    }
    static class Box implements Bag {
        private final Deque<String> items = new ArrayDeque<>();
        @Override
        public synchronized int size() {
            return items.size();
        }
        @Override
        public synchronized void add(String item) {
            items.add(item);
        }
    }

    public static void main(String[] args) {
        Bag c = new Box();
        Pause.race(() -> c.addIfRoom("a"), () -> c.addIfRoom("b"));
    }
}
