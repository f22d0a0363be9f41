package shop;

import static org.junit.Assert.assertTrue;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.junit.Test;

public class StockTest {
    /** Passes, and tells nobody that something was sold twice. */
    @Test
    public void twoTillsSell() throws InterruptedException {
        Stock stock = new Stock(2_000);
        // Now and then they wait for each other, so that neither is done before the other one begins.
        CyclicBarrier both = new CyclicBarrier(2);
        Thread[] tills = new Thread[2];
        for (int i = 0; i < tills.length; i++) {
            tills[i] = new Thread(() -> {
                try {
                    for (int n = 0; n < 500; n++) {
                        if (n % 50 == 0) {
                            both.await();
                        }
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
