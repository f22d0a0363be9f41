package repaired;

import java.util.concurrent.atomic.AtomicBoolean;
import schedule.Pause;

/** Repaired: Server.start is one step now; before: get and set of an AtomicBoolean. */
public class AtomicBooleanStart {
    static class Server {
        final AtomicBoolean started = new AtomicBoolean();
        boolean start() {
            Pause.here();
            return started.compareAndSet(false, true);
        }
    }

    public static void main(String[] args) {
        Server c = new Server();
        Pause.race(() -> c.start(), () -> c.start());
    }
}
