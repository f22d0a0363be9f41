/** Accesses that need a test of their own in a first run, and others; each method ends in how many do. */
class Twice {
    int a;
    long b;
    Twice next;
    static int shared;

    static void other() {}

    int reads_1() {
        return a + a;
    }

    int fields_1() {
        return a + (int) b;
    }

    void readThenWrite_2() {
        a = a + 1;
    }

    void writeThenRead_1(int value) {
        a = value;
        b = a;
    }

    int call_2() {
        int x = a;
        other();
        return x + a;
    }

    int branch_1(boolean c) {
        int x = a;
        if (c) x++;
        return x + a;
    }

    int oneWay_2(boolean c) {
        int x = 0;
        if (c) x = a;
        return x + a;
    }

    int bothWays_2(boolean c) {
        int x;
        if (c) x = a; else x = (int) b;
        return x + a;
    }

    int readOrWrite_3(boolean c) {
        int x = 0;
        if (c) x = a; else a = 1;
        a = 2;
        return x;
    }

    int loop_2(int n) {
        int x = a;
        for (int i = 0; i < n; i++) x += i;
        return x + a;
    }

    int inLoop_1(int n) {
        int x = 0;
        for (int i = 0; i < n; i++) x += a * a;
        return x;
    }

    int another_3(Twice o) {
        int x = a;
        x += o.a;
        return x + a;
    }

    int parameter_1(Twice o) {
        return o.a + (int) o.b;
    }

    int replaced_2(Twice o) {
        int x = o.a;
        o = o.next;
        return x + o.a;
    }

    /** The object is loaded before the variable changes. */
    int replacedBetween_3(Twice o, Twice p) {
        int x = o.a;
        o.a = (o = p).a;
        return x;
    }

    int made_2() {
        int x = a;
        Object made = new Object();
        return made == null ? x : x + a;
    }

    int cast_2(Object o) {
        int x = a;
        String text = (String) o;
        return text == null ? x : x + a;
    }

    int statics_2() {
        int x = a;
        shared = x;
        return x + a;
    }

    int lock_3() {
        int x = a;
        synchronized (this) {
            x += a;
        }
        return x + a;
    }

    int caught_2(int zero) {
        int x = a;
        try {
            x /= zero;
        } catch (ArithmeticException e) {
            x = a;
        }
        return x;
    }

    int chained_4() {
        return next.a + (int) next.b;
    }

    /** A test more where elements of arrays are tested as well. */
    int array_1(int[] values) {
        int x = a;
        values[0] = x;
        return a;
    }
}

class Heir extends Twice {
    int c;

    int inherited_1() {
        return a + c;
    }
}
