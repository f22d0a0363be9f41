package repaired;

import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import schedule.Pause;

/** Repaired: Seats.book is one step now; before: the size of a set names the next seat. */
public class NextSeat {
    static class Seats {
        private final Set<Integer> taken = Collections.synchronizedSet(new TreeSet<>());
        synchronized Integer book() {
            int seat = taken.size();
            Pause.here();
            return taken.add(seat) ? seat : null;
        }
    }

    public static void main(String[] args) {
        Seats c = new Seats();
        Pause.race(() -> c.book(), () -> c.book());
    }
}
