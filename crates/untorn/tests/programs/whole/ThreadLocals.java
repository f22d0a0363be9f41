package whole;

import schedule.Pause;

/** Whole: state in a ThreadLocal. */
public class ThreadLocals {
    static class Ids {
        private final ThreadLocal<int[]> last = ThreadLocal.withInitial(() -> new int[1]);
        int next() {
            int[] own = last.get();
            own[0]++;
            return own[0];
        }
    }

    public static void main(String[] args) {
        Ids c = new Ids();
        Pause.race(() -> c.next(), () -> c.next());
    }
}
