package drivers;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** Threads ask a cache that loads and evicts; what it holds when is chance, what it returns is not. */
public final class Caffeine {
    private static final int ROOM = 2000;

    record Key(int number, String text) {}

    static final class LoadFailed extends RuntimeException {
        LoadFailed(Key key) {
            super("nothing for " + key);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Workers.number(arguments, 0);
        int size = Workers.number(arguments, 1);
        AtomicLong balance = new AtomicLong();
        LoadingCache<Key, long[]> cache = com.github.benmanes.caffeine.cache.Caffeine.newBuilder()
            .maximumSize(ROOM).recordStats()
            .removalListener((Key key, long[] value, RemovalCause cause) -> balance.decrementAndGet())
            .executor(Runnable::run)
            .build(key -> {
                if (key.number % 997 == 13) {
                    throw new LoadFailed(key);
                }
                balance.incrementAndGet();
                return new long[] {key.number, key.text.hashCode()};
            });
        Workers.print("asked", Workers.run(threads, index -> ask(cache, index, size)));
        cache.cleanUp();
        System.out.println("within its room: " + (cache.estimatedSize() <= ROOM));
        System.out.println("loaded but not removed: " + (balance.get() - cache.estimatedSize()));
        System.out.println("requests: " + cache.stats().requestCount());
        Cache<Integer, Integer> counts = com.github.benmanes.caffeine.cache.Caffeine.newBuilder().build();
        Workers.run(threads, index -> {
            for (int i = 0; i < size; i++) {
                counts.asMap().merge(i % 100, 1, Integer::sum);
            }
            return 0;
        });
        System.out.println("counts: " + new java.util.TreeMap<>(counts.asMap()));
    }

    private static long ask(LoadingCache<Key, long[]> cache, int index, int size) {
        Random random = new Random(index);
        long sum = 0;
        for (int i = 0; i < size; i++) {
            int number = (int) Math.abs(random.nextGaussian() * 2 * ROOM);
            Key key = new Key(number, "key " + number % 17);
            try {
                long[] value = cache.get(key);
                sum = Workers.mix(sum, value[0] + value[1]);
            } catch (LoadFailed failure) {
                sum = Workers.mix(sum, Workers.origin(failure));
            }
            if (i % 1000 == 999) {
                cache.invalidate(key);
            }
        }
        return sum;
    }
}
