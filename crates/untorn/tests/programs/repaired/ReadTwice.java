package repaired;

import schedule.Pause;

/** Repaired: Holder.text is one step now; before: checked for null and read again. */
public class ReadTwice {
    static class Holder {
        volatile Object value = "v";
        String text() {
            Object now = value;
            Pause.here();
            return now == null ? "" : String.valueOf(now);
        }
        void clear() {
            value = null;
        }
    }

    public static void main(String[] args) {
        Holder c = new Holder();
        Pause.race(() -> c.text(), () -> c.clear());
    }
}
