package kernels;

/** Hand-over: threads that pass a turn on, each waiting for its own in a loop that yields the processor. */
public final class Turns {
    private static volatile int turn;

    private Turns() {}

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Integer.parseInt(arguments[0]), rounds = Team.size(arguments);
        Team.run(arguments, index -> pass(index, (index + 1) % threads, rounds));
    }

    static long pass(int me, int next, int rounds) {
        for (int round = 0; round < rounds; round++) {
            while (turn != me) Thread.yield();
            turn = next;
        }
        return rounds;
    }
}
