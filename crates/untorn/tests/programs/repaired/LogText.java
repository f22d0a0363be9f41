package repaired;

import schedule.Pause;

/** Repaired: Journal.write is one step now; before: a line that is appended in between is lost. */
public class LogText {
    static class Journal {
        private volatile String text = "";
        synchronized void write(String line) {
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
