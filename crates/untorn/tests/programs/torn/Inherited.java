package torn;

import schedule.Pause;

/** Torn: Child.increment: a field of the superclass. */
public class Inherited {
    static class Parent {
        protected int n;
    }
    static class Child extends Parent {
        void increment() {
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
