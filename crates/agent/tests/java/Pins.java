import java.util.concurrent.CountDownLatch;

/** Threads that have logged something and then live on without doing anything. Arguments: how many. */
public class Pins {
    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        CountDownLatch all = new CountDownLatch(threads);
        Thread[] pins = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            pins[i] = new Thread(() -> {
                UntornThread c = UntornRuntime.context(true);
                long mark = c.open;
                UntornRuntime.begin(0, c);
                Object own = new Object();
                synchronized (own) {
                    UntornRuntime.acquired(own, Stress.LOCK, c);
                    UntornRuntime.releasing(own, Stress.LOCK, mark, c);
                }
                UntornRuntime.end(0, mark, c);
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException unexpected) {
                    throw new IllegalStateException(unexpected);
                }
            });
            pins[i].start();
        }
        for (Thread pin : pins) pin.join();
        System.out.println("all met");
    }
}
