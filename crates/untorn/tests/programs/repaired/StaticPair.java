package repaired;

import schedule.Pause;

/** Repaired: StaticPair.configure is one step now; before: host and port of different configurations. */
public class StaticPair {
    static String host = "a";
    static int port = 1;
    static synchronized void configure(String h, int p) {
        host = h;
        Pause.here();
        port = p;
    }
    static synchronized String address() {
        return host + port;
    }

    public static void main(String[] args) {
        Pause.race(() -> configure("b", 2), () -> address());
    }
}
