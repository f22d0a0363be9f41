package whole;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import schedule.Pause;

/** Whole: each entry gets a number of its own, whoever takes the next one in between. */
public class NumberedEntry {
    static class Orders {
        private final AtomicLong next = new AtomicLong();
        private final ConcurrentHashMap<Long, String> all = new ConcurrentHashMap<>();
        long place(String what) {
            long number = next.incrementAndGet();
            Pause.here();
            all.put(number, what);
            return number;
        }
        String find(long number) {
            return all.get(number);
        }
    }

    public static void main(String[] args) {
        Orders c = new Orders();
        Pause.race(() -> c.place("tea"), () -> c.place("milk"));
    }
}
