package shop;

import static org.junit.Assert.assertTrue;

import java.util.concurrent.CountDownLatch;
import org.junit.Test;

public class StockTest {
    /** Passes, and tells nobody that something was sold twice. */
    @Test
    public void twoTillsSell() throws InterruptedException {
        Stock stock = new Stock(2_000);
        CountDownLatch open = new CountDownLatch(1);
        Thread[] tills = new Thread[2];
        for (int i = 0; i < tills.length; i++) {
            tills[i] = new Thread(() -> {
                try {
                    open.await();
                } catch (InterruptedException e) {
                    return;
                }
                for (int n = 0; n < 500; n++) {
                    stock.sell();
                    stock.sellSafely();
                }
            }, "till-" + i);
            tills[i].start();
        }
        open.countDown();
        for (Thread till : tills) {
            till.join();
        }
        assertTrue(stock.left() >= 0);
    }
}
