package whole;

import java.util.concurrent.atomic.LongAdder;
import schedule.Pause;

/** Whole: two numbers are added to one sum, and the order of additions does not matter. */
public class AddedTwice {
    static class Bytes {
        private final LongAdder sent = new LongAdder();
        void send(int head, int body) {
            sent.add(head);
            Pause.here();
            sent.add(body);
        }
    }

    public static void main(String[] args) {
        Bytes c = new Bytes();
        Pause.race(() -> c.send(4, 100), () -> c.send(4, 200));
    }
}
