import com.netflix.hystrix.util.HystrixTimer;

/** Two threads add the first listeners of the timer: one makes its threads in two steps, the other uses them in between. */
public class HystrixTimers {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            HystrixTimer.reset();
            Runnable add = () -> HystrixTimer.getInstance().addTimerListener(new Hourly());
            return new Runnable[] {add, add};
        });
        HystrixTimer.reset();
    }

    static final class Hourly implements HystrixTimer.TimerListener {
        @Override
        public void tick() {}

        @Override
        public int getIntervalTimeInMilliseconds() {
            return 3_600_000;
        }
    }
}
