package core;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

class StockTest {
    /** Passes, and tells nobody that something was sold twice. */
    @Test
    void twoTillsSell() throws InterruptedException {
        Stock stock = new Stock(2_000);
        // They wait for each other before each sale, so that both look at the stock at about the same time.
        CyclicBarrier both = new CyclicBarrier(2);
        Thread[] tills = new Thread[2];
        for (int i = 0; i < tills.length; i++) {
            tills[i] = new Thread(() -> {
                try {
                    for (int n = 0; n < 50; n++) {
                        both.await();
                        stock.sell();
                        stock.sellSafely();
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
        assertTrue(stock.left() >= 0);
    }
}
