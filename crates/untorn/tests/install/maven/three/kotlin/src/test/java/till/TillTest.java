package till;

import static org.testng.Assert.assertTrue;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import org.testng.annotations.Test;

public class TillTest {
    /** Passes, and tells nobody that something was sold twice. */
    @Test
    public void twoTillsSell() throws InterruptedException {
        Till stock = new Till();
        // They wait for each other before each sale, so that both look at the stock at about the same time.
        CyclicBarrier both = new CyclicBarrier(2);
        Thread[] tills = new Thread[2];
        for (int i = 0; i < tills.length; i++) {
            tills[i] = new Thread(() -> {
                try {
                    for (int n = 0; n < 50; n++) {
                        both.await();
                        stock.sell();
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
        assertTrue(stock.getLeft() >= 0);
    }

    /** Passes as well. */
    @Test
    public void coroutinesShop() {
        Shop.open();
    }
}
