package before;

/** release changes a static field without the lock of the class. */
class Registry {
    private static int last;
    private static int used;

    static synchronized int next() {
        last++;
        used++;
        return last;
    }

    static void release() {
        used--;
    }
}
