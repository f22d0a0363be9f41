package whole;

import schedule.Pause;

/** Whole: built first, published by a volatile write. */
public class SafePublication {
    static class Config {
        int port;
        String host;
    }
    static class Registry {
        private volatile Config current = new Config();
        void publish() {
            Config made = new Config();
            made.port = 80;
            made.host = "h";
            Pause.here();
            current = made;
        }
        int port() {
            Config now = current;
            return now.port;
        }
    }

    public static void main(String[] args) {
        Registry c = new Registry();
        Pause.race(() -> c.publish(), () -> c.port());
    }
}
