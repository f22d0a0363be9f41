package whole;

import schedule.Pause;

/** Whole: an immutable object behind a volatile field. */
public class ImmutableSnapshot {
    static final class Config {
        final String host;
        final int port;
        Config(String host, int port) {
            this.host = host;
            this.port = port;
        }
    }
    static class Server {
        private volatile Config config = new Config("a", 1);
        void configure(String host, int port) {
            config = new Config(host, port);
        }
        String address() {
            Config now = config;
            Pause.here();
            return now.host + now.port;
        }
    }

    public static void main(String[] args) {
        Server c = new Server();
        Pause.race(() -> c.address(), () -> c.configure("b", 2));
    }
}
