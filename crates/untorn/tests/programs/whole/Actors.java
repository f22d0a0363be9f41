package whole;

import java.util.concurrent.LinkedBlockingQueue;
import schedule.Pause;

/** Whole: one thread alone works on the state, others send it messages. */
public class Actors {
    static class Actor {
        private final LinkedBlockingQueue<Integer> inbox = new LinkedBlockingQueue<>();
        private int total;
        void send(int n) {
            inbox.add(n);
        }
        void handle(int n) {
            total = total + n;
        }
        void serve() {
            try {
                for (int n = inbox.take(); n != 0; n = inbox.take()) {
                    handle(n);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) {
        Actor c = new Actor();
        Pause.race(() -> c.serve(), () -> { c.send(1); c.send(2); c.send(0); });
    }
}
