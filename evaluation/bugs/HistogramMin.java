import org.HdrHistogram.AtomicHistogram;

/** Two threads record ever lower values: {@code updateMinNonZeroValue} reads the minimum once to compare and once more to replace. */
public class HistogramMin {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            AtomicHistogram histogram = new AtomicHistogram(1_000_000, 3);
            Runnable record = () -> {
                for (int i = 400; i >= 1; i--) {
                    histogram.recordValue(i * 1000);
                }
            };
            return new Runnable[] {record, record};
        });
    }
}
