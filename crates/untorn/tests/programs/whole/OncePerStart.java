package whole;

import java.util.concurrent.atomic.AtomicBoolean;
import schedule.Pause;

/** Whole: started once, by compareAndSet. */
public class OncePerStart {
    static class Server {
        private final AtomicBoolean started = new AtomicBoolean();
        private int starts;
        void start() {
            if (started.compareAndSet(false, true)) {
                starts = starts + 1;
            }
        }
    }

    public static void main(String[] args) {
        Server c = new Server();
        Pause.race(() -> c.start(), () -> c.start());
    }
}
