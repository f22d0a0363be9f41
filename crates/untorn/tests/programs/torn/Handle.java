package torn;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import schedule.Pause;

/** Torn: Counter.increment: get and set through a VarHandle. */
public class Handle {
    static class Counter {
        static final VarHandle N;
        static {
            try {
                N = MethodHandles.lookup().findVarHandle(Counter.class, "n", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
        int n;
        void increment() {
            int was = (int) N.getVolatile(this);
            Pause.here();
            N.setVolatile(this, was + 1);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
