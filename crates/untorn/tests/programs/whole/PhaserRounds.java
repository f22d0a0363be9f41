package whole;

import java.util.concurrent.Phaser;
import schedule.Pause;

/** Whole: rounds of a phaser. */
public class PhaserRounds {
    static class Round {
        private final Phaser phaser = new Phaser(2);
        private int left;
        private int right;
        int goLeft() {
            left = 1;
            phaser.arriveAndAwaitAdvance();
            return left + right;
        }
        int goRight() {
            right = 2;
            phaser.arriveAndAwaitAdvance();
            return left + right;
        }
    }

    public static void main(String[] args) {
        Round c = new Round();
        Pause.together(() -> c.goLeft(), () -> c.goRight());
    }
}
