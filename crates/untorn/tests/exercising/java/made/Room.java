package made;

import java.util.concurrent.atomic.AtomicInteger;

/** Its constructor takes what it is to be like. */
public final class Room {
    private final int most;
    private final AtomicInteger inside = new AtomicInteger();

    public Room(Options options) {
        most = options.most;
    }

    /** Torn: asks whether there is room, and sits down in a second step. */
    public boolean sit() {
        if (inside.get() >= most) return false;
        inside.incrementAndGet();
        return true;
    }

    /** Gives itself, so that calls can be chained. */
    public static final class Options {
        private int most = 1000;

        public Options most(int most) {
            this.most = most;
            return this;
        }
    }
}
