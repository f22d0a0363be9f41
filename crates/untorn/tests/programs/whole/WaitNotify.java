package whole;

import schedule.Pause;

/** Whole: a bounded buffer with wait and notify. */
public class WaitNotify {
    static class Buffer {
        private Object item;
        synchronized void put(Object one) {
            item = one;
            notifyAll();
        }
        synchronized Object take() {
            while (item == null) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    return null;
                }
            }
            Object taken = item;
            item = null;
            return taken;
        }
    }

    public static void main(String[] args) {
        Buffer c = new Buffer();
        Pause.race(() -> c.take(), () -> c.put("i"));
    }
}
