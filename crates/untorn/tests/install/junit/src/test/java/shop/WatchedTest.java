package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.untorn.junit.AtomicOperation;
import dev.untorn.junit.RepeatedUnderSchedules;
import dev.untorn.junit.Untorn;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

class WatchedTest {
    @Untorn
    @Test
    void torn() throws InterruptedException {
        Stock stock = new Stock(2_000);
        together(stock::sell);
    }

    @Untorn
    @Test
    void whole() throws InterruptedException {
        Stock stock = new Stock(2_000);
        together(stock::sellSafely);
        assertEquals(1_900, stock.left());
    }

    @AtomicOperation("Stock.sell")
    @Test
    void expected() throws InterruptedException {
        Stock stock = new Stock(2_000);
        together(stock::sell);
    }

    @AtomicOperation("Stock.sellSafely")
    @Test
    void neverCalled() throws InterruptedException {
        Stock stock = new Stock(2_000);
        together(stock::sell);
    }

    /** The tills take turns, and never meet unless somebody holds one up. */
    @RepeatedUnderSchedules(20)
    @Test
    void rare() throws InterruptedException {
        Stock stock = new Stock(2_000);
        Thread other = new Thread(() -> {
            rest(40);
            inTurn(stock);
        }, "other");
        other.start();
        inTurn(stock);
        other.join();
    }

    private static void inTurn(Stock stock) {
        for (int n = 0; n < 3; n++) {
            stock.sell();
            rest(80);
        }
    }

    private static void rest(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the test itself finds wrong counts first. */
    @Untorn
    @Test
    void wrong() {
        assertEquals(1, new Stock(2).left());
    }

    private static void together(Runnable sell) throws InterruptedException {
        CyclicBarrier both = new CyclicBarrier(2);
        Thread[] tills = new Thread[2];
        for (int i = 0; i < tills.length; i++) {
            tills[i] = new Thread(() -> {
                try {
                    for (int n = 0; n < 50; n++) {
                        both.await();
                        sell.run();
                    }
                } catch (InterruptedException | BrokenBarrierException e) {
                    throw new IllegalStateException(e);
                }
            }, "till-" + i);
            tills[i].start();
        }
        for (Thread till : tills) {
            till.join();
        }
    }
}
