package drivers;

import java.util.Random;
import org.ehcache.Cache;
import org.ehcache.CacheManager;
import org.ehcache.config.builders.CacheConfigurationBuilder;
import org.ehcache.config.builders.CacheManagerBuilder;
import org.ehcache.config.builders.ResourcePoolsBuilder;

/** Threads work on keys of their own in caches with room for all of them. */
public final class Ehcache {
    private static final int KEYS = 300;

    public static void main(String[] arguments) throws Exception {
        int threads = Workers.number(arguments, 0);
        int size = Workers.number(arguments, 1);
        ResourcePoolsBuilder room = ResourcePoolsBuilder.heap((long) KEYS * threads + 100);
        try (CacheManager manager = CacheManagerBuilder.newCacheManagerBuilder()
            .withCache("stock", CacheConfigurationBuilder.newCacheConfigurationBuilder(Long.class, String.class, room))
            .build(true)) {
            Cache<Long, String> stock = manager.getCache("stock", Long.class, String.class);
            Workers.print("thread", Workers.run(threads, index -> work(stock, index, size)));
            long entries = 0;
            long sum = 0;
            for (Cache.Entry<Long, String> entry : stock) {
                entries++;
                sum += Workers.sum(entry.getKey() + "=" + entry.getValue());
            }
            System.out.println("entries " + entries + ": " + Long.toHexString(sum));
        }
    }

    private static long work(Cache<Long, String> stock, int index, int size) {
        Random random = new Random(index);
        long sum = 0;
        for (int i = 0; i < size; i++) {
            long key = (long) index * KEYS + random.nextInt(KEYS);
            switch (random.nextInt(6)) {
                case 0 -> stock.put(key, "put " + i);
                case 1 -> sum = Workers.mix(sum, hash(stock.putIfAbsent(key, "absent " + i)));
                case 2 -> stock.remove(key);
                case 3 -> sum = Workers.mix(sum, hash(stock.replace(key, "replaced " + i)));
                default -> sum = Workers.mix(sum, hash(stock.get(key)));
            }
            if (i % 500 == 499) {
                sum = Workers.mix(sum, refused(stock));
            }
        }
        return sum;
    }

    private static long refused(Cache<Long, String> stock) {
        try {
            stock.put(1L, null);
            throw new IllegalStateException("null was kept");
        } catch (NullPointerException refused) {
            return Workers.origin(refused);
        }
    }

    private static int hash(String value) {
        return value == null ? 1 : value.hashCode();
    }
}
