package whole;

import java.util.concurrent.atomic.AtomicReference;
import schedule.Pause;

/** Whole: a configuration is read once and replaced by updateAndGet. */
public class ConfigReference {
    static class Settings {
        private static final class Config {
            final int size;
            final int limit;
            Config(int size, int limit) {
                this.size = size;
                this.limit = limit;
            }
        }
        private final AtomicReference<Config> config = new AtomicReference<>(new Config(1, 2));
        void grow() {
            config.updateAndGet(now -> new Config(now.size + 1, now.limit + 1));
        }
        int room() {
            Config now = config.get();
            Pause.here();
            return now.limit - now.size;
        }
    }

    public static void main(String[] args) {
        Settings c = new Settings();
        Pause.race(() -> c.room(), () -> c.grow());
    }
}
