package whole;

import schedule.Pause;

/** Whole: an object is filled before anybody else has it, and published once. */
public class FreshBuilder {
    static class Order {
        int lines;
        int total;
    }
    static class Desk {
        private volatile Order last;
        void take(int total) {
            Order order = new Order();
            order.lines = 1;
            order.total = total;
            Pause.here();
            last = order;
        }
        int total() {
            Order now = last;
            return now == null ? 0 : now.total;
        }
    }

    public static void main(String[] args) {
        Desk c = new Desk();
        Pause.race(() -> c.take(7), () -> c.total());
    }
}
