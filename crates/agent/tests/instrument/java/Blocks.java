import java.util.function.Supplier;

/** Synchronized blocks in every place where one can stand.. */
class Blocks {
    final Object a = new Object(), b = new Object();
    int n;
    static int s;

    void alone() {
        synchronized (a) { n++; }
    }

    void nested() {
        synchronized (a) {
            n++;
            synchronized (b) { n++; }
            n++;
        }
    }

    void insideFinally() {
        try {
            n++;
        } finally {
            synchronized (a) { n++; }
        }
    }

    void insideTryFinally() {
        try {
            synchronized (a) { n++; }
        } finally {
            n--;
        }
    }

    void insideTryCatchFinally() {
        try {
            synchronized (a) { n++; }
            n += 2;
        } catch (RuntimeException e) {
            synchronized (b) { n--; }
        } finally {
            n = 0;
        }
    }

    void insideCatchThrowable() {
        try {
            synchronized (a) { n++; }
        } catch (Throwable t) {
            n--;
        }
    }

    int returnsFromTryFinally() {
        try {
            synchronized (a) { return n; }
        } finally {
            n = 0;
        }
    }

    int nestedWithReturn(boolean early) {
        synchronized (a) {
            try {
                synchronized (b) {
                    if (early) return n;
                    n++;
                }
            } finally {
                n = 1;
            }
            return 2;
        }
    }

    void tryInside() {
        synchronized (a) {
            try {
                n++;
            } catch (IllegalStateException e) {
                n--;
            } finally {
                n = 2;
            }
        }
    }

    void loop() {
        for (int i = 0; i < 3; i++) {
            try {
                synchronized (a) {
                    if (n == 7) continue;
                    if (n == 8) break;
                    synchronized (b) { n++; }
                }
            } catch (RuntimeException e) {
                return;
            }
        }
    }

    int nothingThrows(int k) {
        try {
            synchronized (a) { k++; }
        } finally {
            k--;
        }
        return k;
    }

    void empty() {
        try {
            synchronized (a) { }
        } finally {
            n = 3;
        }
    }

    void resource() throws Exception {
        try (AutoCloseable c = () -> n++) {
            synchronized (a) {
                try (AutoCloseable d = () -> n--) {
                    synchronized (b) { n = 4; }
                }
            }
        }
    }

    Supplier<Integer> lambda() {
        return () -> {
            try {
                synchronized (a) { return n; }
            } finally {
                synchronized (b) { n++; }
            }
        };
    }

    void deep() {
        synchronized (a) {
            try {
                synchronized (b) {
                    try {
                        synchronized (Blocks.class) { s++; }
                    } finally {
                        n = 5;
                    }
                }
            } finally {
                n = 6;
            }
        }
    }

    void alwaysThrows() {
        synchronized (a) { throw new IllegalStateException(); }
    }
}
