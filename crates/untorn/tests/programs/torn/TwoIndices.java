package torn;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import schedule.Pause;

/** Torn: Statistics.spread: two elements are read around a change of both. */
public class TwoIndices {
    static class Statistics {
        private final List<Integer> samples = new CopyOnWriteArrayList<>(List.of(1, 2));
        int spread() {
            int first = samples.get(0);
            Pause.here();
            return samples.get(1) - first;
        }
        void shift(int by) {
            samples.set(0, samples.get(0) + by);
            samples.set(1, samples.get(1) + by);
        }
    }

    public static void main(String[] args) {
        Statistics c = new Statistics();
        Pause.race(() -> c.spread(), () -> c.shift(5));
    }
}
