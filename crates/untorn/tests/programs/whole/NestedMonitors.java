package whole;

import schedule.Pause;

/** Whole: two locks always taken in the same order around both fields. */
public class NestedMonitors {
    static class Shop {
        private final Object stockLock = new Object();
        private final Object tillLock = new Object();
        private int stock = 5;
        private int till;
        void sell(int price) {
            synchronized (stockLock) {
                synchronized (tillLock) {
                    stock--;
                    Pause.here();
                    till += price;
                }
            }
        }
        int worth(int price) {
            synchronized (stockLock) {
                synchronized (tillLock) {
                    return stock * price + till;
                }
            }
        }
    }

    public static void main(String[] args) {
        Shop c = new Shop();
        Pause.race(() -> c.sell(2), () -> c.worth(2));
    }
}
