package whole;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import schedule.Pause;

/** Whole: objects handed over by a queue. */
public class HandOverQueue {
    static class Box {
        int n;
    }
    static class Pipe {
        private final BlockingQueue<Box> queue = new LinkedBlockingQueue<>();
        void send() {
            Box box = new Box();
            box.n = 1;
            box.n++;
            queue.add(box);
        }
        int receive() {
            try {
                Box box = queue.take();
                box.n++;
                return box.n;
            } catch (InterruptedException e) {
                return 0;
            }
        }
    }

    public static void main(String[] args) {
        Pipe c = new Pipe();
        Pause.race(() -> c.receive(), () -> c.send());
    }
}
