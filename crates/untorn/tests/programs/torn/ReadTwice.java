package torn;

import schedule.Pause;

/** Torn: Holder.text: checked for null and read again. */
public class ReadTwice {
    static class Holder {
        volatile Object value = "v";
        String text() {
            if (value == null) {
                return "";
            }
            Pause.here();
            return String.valueOf(value);
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
