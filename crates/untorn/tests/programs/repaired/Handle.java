package repaired;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import schedule.Pause;

/** Repaired: Counter.increment is one step now; before: get and set through a VarHandle. */
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
            Pause.here();
            int before = (int) N.getAndAdd(this, 1);
        }
    }

    public static void main(String[] args) {
        Counter c = new Counter();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
