package torn;

import schedule.Pause;

/** Torn: Log.flush: what is appended in between is lost. */
public class StringBufferFlush {
    static class Log {
        final StringBuffer text = new StringBuffer("x");
        String flush() {
            String all = text.toString();
            Pause.here();
            text.setLength(0);
            return all;
        }
        void write(String line) {
            text.append(line);
        }
    }

    public static void main(String[] args) {
        Log c = new Log();
        Pause.race(() -> c.flush(), () -> c.write("y"));
    }
}
