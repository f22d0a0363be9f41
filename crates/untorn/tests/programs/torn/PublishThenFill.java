package torn;

import schedule.Pause;

/** Torn: Registry.publish: an object is published before it is complete. */
public class PublishThenFill {
    static class Config {
        int port;
    }
    static class Registry {
        volatile Config current;
        void publish() {
            Config made = new Config();
            current = made;
            Pause.here();
            made.port = 80;
        }
        int port() {
            Config now = current;
            return now == null ? 0 : now.port;
        }
    }

    public static void main(String[] args) {
        Registry c = new Registry();
        Pause.race(() -> c.publish(), () -> c.port());
    }
}
