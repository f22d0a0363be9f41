/** Operations that are torn by a schedule which is forced; the limit of a stock is set when it is made. */
public class Shop {
    static class Stock {
        int left;
        int limit;

        Stock(int limit) {
            this.limit = limit;
        }

        synchronized int left() {
            return left;
        }

        synchronized void setLeft(int to) {
            left = to;
        }

        void sell() {
            Clock.at(0);
            int before = left();
            Clock.done();
            Clock.at(2);
            setLeft(before + limit);
            Clock.done();
        }

        int twice() {
            Clock.at(0);
            int first = limit;
            Clock.done();
            Clock.at(2);
            int second = limit;
            Clock.done();
            return first + second;
        }
    }

    /** Not there when the program is checked. */
    static class Intruder {
        static void change(Stock stock) {
            stock.limit = 7;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Stock stock = new Stock(5);
        boolean intrudes = arguments.length > 0;
        Thread other = new Thread(() -> {
            Clock.at(1);
            if (intrudes) Intruder.change(stock);
            else stock.setLeft(3);
            Clock.done();
        });
        other.start();
        if (intrudes) stock.twice();
        else stock.sell();
        other.join();
    }
}

/** Not watched. */
class Clock {
    private static volatile int now;

    static void at(int step) {
        while (now != step) Thread.onSpinWait();
    }

    static void done() {
        now++;
    }
}
