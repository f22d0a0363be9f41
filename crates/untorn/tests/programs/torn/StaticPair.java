package torn;

import schedule.Pause;

/** Torn: StaticPair.configure: host and port of different configurations. */
public class StaticPair {
    static String host = "a";
    static int port = 1;
    static void configure(String h, int p) {
        host = h;
        Pause.here();
        port = p;
    }
    static String address() {
        return host + port;
    }

    public static void main(String[] args) {
        Pause.race(() -> configure("b", 2), () -> address());
    }
}
