import ch.qos.logback.classic.LoggerContext;

/** A context of loggers is reset, which walks over the children of the root, while another thread makes loggers. */
public class LogbackChildren {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(300, 2, number -> {
            LoggerContext context = new LoggerContext();
            context.getLogger("first");
            return new Runnable[] {
                () -> {
                    for (int i = 0; i < 20; i++) {
                        context.getLogger("logger" + i);
                    }
                },
                () -> {
                    for (int i = 0; i < 5; i++) {
                        context.reset();
                    }
                },
            };
        });
    }
}
