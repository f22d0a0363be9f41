package torn;

import java.util.concurrent.atomic.AtomicBoolean;
import schedule.Pause;

/** Torn: Server.start: get and set of an AtomicBoolean. */
public class AtomicBooleanStart {
    static class Server {
        final AtomicBoolean started = new AtomicBoolean();
        boolean start() {
            if (started.get()) {
                return false;
            }
            Pause.here();
            started.set(true);
            return true;
        }
    }

    public static void main(String[] args) {
        Server c = new Server();
        Pause.race(() -> c.start(), () -> c.start());
    }
}
