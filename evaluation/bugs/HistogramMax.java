import org.HdrHistogram.AtomicHistogram;

/** Two threads record ever higher values: {@code updatedMaxValue} reads the maximum once to compare and once more to replace. */
public class HistogramMax {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            AtomicHistogram histogram = new AtomicHistogram(1_000_000, 3);
            Runnable record = () -> {
                for (int i = 1; i <= 400; i++) {
                    histogram.recordValue(i * 1000);
                }
            };
            return new Runnable[] {record, record};
        });
    }
}
