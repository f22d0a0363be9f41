import com.netflix.concurrency.limits.Limiter;
import com.netflix.concurrency.limits.limit.FixedLimit;
import com.netflix.concurrency.limits.limiter.SimpleLimiter;

/** Two threads want the only place of a limiter: how many are inside is asked, and counted up in a second step. */
public class LimitsSimple {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            Limiter<Void> limiter = SimpleLimiter.newBuilder().limit(FixedLimit.of(1)).build();
            Runnable enter = () -> {
                for (int i = 0; i < 200; i++) {
                    limiter.acquire(null).ifPresent(Limiter.Listener::onSuccess);
                }
            };
            return new Runnable[] {enter, enter};
        });
    }
}
