package repaired;

import schedule.Pause;

/** Repaired: Registry.publish is one step now; before: an object is published before it is complete. */
public class PublishThenFill {
    static class Config {
        int port;
    }
    static class Registry {
        volatile Config current;
        void publish() {
            Config made = new Config();
            made.port = 80;
            Pause.here();
            current = made;
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
