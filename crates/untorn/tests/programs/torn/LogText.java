package torn;

import schedule.Pause;

/** Torn: Journal.write: a line that is appended in between is lost. */
public class LogText {
    static class Journal {
        private volatile String text = "";
        void write(String line) {
            String before = text;
            Pause.here();
            text = before + line;
        }
    }

    public static void main(String[] args) {
        Journal c = new Journal();
        Pause.race(() -> c.write("a"), () -> c.write("b"));
    }
}
