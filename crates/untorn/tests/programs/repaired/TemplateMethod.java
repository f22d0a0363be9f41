package repaired;

import schedule.Pause;

/** Repaired: Base.advance is one step now; before: a method of the base class calls back into the derived one. */
public class TemplateMethod {
    static abstract class Base {
        int total;
        abstract int step();
        synchronized void advance() {
            int was = total;
            Pause.here();
            total = was + step();
        }
    }
    static class Two extends Base {
        int step() {
            return 2;
        }
    }

    public static void main(String[] args) {
        Base c = new Two();
        Pause.race(() -> c.advance(), () -> c.advance());
    }
}
