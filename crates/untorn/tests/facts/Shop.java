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
            Stage.at(1);
            int before = left();
            Stage.done();
            Stage.at(3);
            setLeft(before + limit);
            Stage.done();
        }

        int twice() {
            Stage.at(1);
            int first = limit;
            Stage.done();
            Stage.at(3);
            int second = limit;
            Stage.done();
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
        Runnable clerk = () -> {
            if (intrudes) stock.twice();
            else stock.sell();
        };
        Runnable other = () -> {
            // What one thread alone has used so far would go unrecorded.
            Stage.at(0);
            stock.setLeft(stock.left() + 1);
            Stage.done();
            Stage.at(2);
            if (intrudes) Intruder.change(stock);
            else stock.setLeft(3);
            Stage.done();
        };
        Stage.play(new Object[0], clerk, other);
    }
}
