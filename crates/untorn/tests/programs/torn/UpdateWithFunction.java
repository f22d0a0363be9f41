package torn;

import java.util.function.UnaryOperator;
import schedule.Pause;

/** Torn: Box.update: a value is read, a function applied, and the result written. */
public class UpdateWithFunction {
    static class Box<T> {
        private T value;
        synchronized T get() {
            return value;
        }
        synchronized void set(T to) {
            value = to;
        }
        void update(UnaryOperator<T> with) {
            T was = get();
            Pause.here();
            set(with.apply(was));
        }
    }

    public static void main(String[] args) {
        Box<Integer> c = new Box<>();
        c.set(1);
        Pause.race(() -> c.update(n -> n + 1), () -> c.update(n -> n * 2));
    }
}
