package repaired;

import java.util.ArrayDeque;
import java.util.Deque;
import schedule.Pause;

/** Repaired: Bag.addIfRoom is one step now; before: a default method of an interface asks and acts. */
public class DefaultMethod {
    interface Bag {
        int size();
        void add(String item);
        boolean addIfRoom(String item);
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
        @Override
        public synchronized boolean addIfRoom(String item) {
            if (size() >= 1) {
                return false;
            }
            Pause.here();
            add(item);
            return true;
        }
    }

    public static void main(String[] args) {
        Bag c = new Box();
        Pause.race(() -> c.addIfRoom("a"), () -> c.addIfRoom("b"));
    }
}
