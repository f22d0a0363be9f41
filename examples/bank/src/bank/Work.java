package bank;

/** Something that takes a moment, as real work does. */
final class Work {
    private Work() {}

    static void some() {
        for (int i = 0; i < 200; i++) {
            Thread.onSpinWait();
        }
    }
}
