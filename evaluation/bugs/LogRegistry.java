import org.apache.logging.log4j.core.LoggerContext;

/** The loggers of a context are listed, by a stream that is used after the lock is given back, while another thread makes loggers. */
public class LogRegistry {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(100, 2, number -> {
            LoggerContext context = new LoggerContext("round " + number);
            context.getLogger("first");
            return new Runnable[] {
                () -> {
                    for (int i = 0; i < 20; i++) {
                        context.getLogger("logger" + i);
                    }
                },
                () -> {
                    for (int i = 0; i < 10; i++) {
                        context.getLoggers();
                    }
                },
            };
        });
    }
}
