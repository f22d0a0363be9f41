package torn;

import java.util.concurrent.atomic.AtomicReference;
import schedule.Pause;

/** Torn: Lazy.get: get and set of an AtomicReference. */
public class AtomicReferenceLazy {
    static class Lazy {
        final AtomicReference<Object> value = new AtomicReference<>();
        Object get() {
            if (value.get() == null) {
                Pause.here();
                value.set(new Object());
            }
            return value.get();
        }
    }

    public static void main(String[] args) {
        Lazy c = new Lazy();
        Pause.race(() -> c.get(), () -> c.get());
    }
}
