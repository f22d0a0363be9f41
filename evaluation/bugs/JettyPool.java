import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.util.ConcurrentPool;
import org.eclipse.jetty.util.Pool;

/** A full pool is asked for a place, and looks at its entries one by one, while another thread removes entries. */
public class JettyPool {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(300, 2, number -> {
            ConcurrentPool<Object> pool = new ConcurrentPool<>(ConcurrentPool.StrategyType.FIRST, 8);
            List<Pool.Entry<Object>> entries = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Pool.Entry<Object> entry = pool.reserve();
                entry.enable(new Object(), false);
                entries.add(entry);
            }
            return new Runnable[] {
                () -> {
                    for (int i = 0; i < 4; i++) {
                        pool.reserve();
                    }
                },
                () -> entries.forEach(Pool.Entry::remove),
            };
        });
    }
}
