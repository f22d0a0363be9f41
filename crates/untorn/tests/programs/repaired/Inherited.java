package repaired;

import schedule.Pause;

/** Repaired: Child.increment is one step now; before: a field of the superclass. */
public class Inherited {
    static class Parent {
        protected int n;
    }
    static class Child extends Parent {
        synchronized void increment() {
            int was = n;
            Pause.here();
            n = was + 1;
        }
    }

    public static void main(String[] args) {
        Child c = new Child();
        Pause.race(() -> c.increment(), () -> c.increment());
    }
}
