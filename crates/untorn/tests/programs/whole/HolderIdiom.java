package whole;

import schedule.Pause;

/** Whole: a lazy holder class. */
public class HolderIdiom {
    static class Holder {
        static final Object VALUE = new Object();
    }
    static Object get() {
        return Holder.VALUE;
    }

    public static void main(String[] args) {
        Pause.race(() -> get(), () -> get());
    }
}
