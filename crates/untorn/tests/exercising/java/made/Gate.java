package made;

import java.util.concurrent.atomic.AtomicInteger;

/** Made by a builder alone, and never full unless the builder is told so. */
public final class Gate {
    private final int most;
    private final AtomicInteger inside = new AtomicInteger();

    private Gate(Builder builder) {
        most = builder.most;
    }

    public static Builder newBuilder() {
        return new Builder();
    }

    /** Torn: asks whether there is room, and goes in in a second step. */
    public boolean enter() {
        if (inside.get() >= most) return false;
        inside.incrementAndGet();
        return true;
    }

    public int inside() {
        return inside.get();
    }

    /** Gives itself, so that calls can be chained. */
    public static final class Builder {
        private int most = 1000;

        private Builder() {}

        public Builder most(int most) {
            this.most = most;
            return this;
        }

        public Gate build() {
            return new Gate(this);
        }
    }
}
