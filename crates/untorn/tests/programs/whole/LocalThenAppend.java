package whole;

import schedule.Pause;

/** Whole: a line is made in the thread's own buffer and appended in one section. */
public class LocalThenAppend {
    static class Report {
        private final StringBuilder text = new StringBuilder();
        void line(int from, int to) {
            StringBuilder own = new StringBuilder();
            for (int i = from; i < to; i++) {
                own.append(i).append(' ');
            }
            Pause.here();
            synchronized (text) {
                text.append(own).append('\n');
            }
        }
        String text() {
            synchronized (text) {
                return text.toString();
            }
        }
    }

    public static void main(String[] args) {
        Report c = new Report();
        Pause.race(() -> c.line(1, 3), () -> { c.line(3, 5); c.text(); });
    }
}
