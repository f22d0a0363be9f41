package torn;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import schedule.Pause;

/** Torn: Leases.sweep: a lease that is renewed between the look and the removal is lost. */
public class SweepExpired {
    static class Leases {
        private final Map<String, Long> ends = new HashMap<>(Map.of("a", 1L));
        synchronized void renew(String who, long end) {
            ends.put(who, end);
        }
        void sweep(long now) {
            List<String> late = new ArrayList<>();
            synchronized (this) {
                ends.forEach((who, end) -> {
                    if (end < now) {
                        late.add(who);
                    }
                });
            }
            Pause.here();
            synchronized (this) {
                late.forEach(ends::remove);
            }
        }
    }

    public static void main(String[] args) {
        Leases c = new Leases();
        Pause.race(() -> c.sweep(5), () -> c.renew("a", 9));
    }
}
