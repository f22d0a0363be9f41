import io.github.resilience4j.core.EventProcessor;

/** Consumers of one kind of event are added while events are handed to those that are there. */
public class ResilienceEvents {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            EventProcessor<Object> processor = new EventProcessor<>();
            processor.registerConsumer("String", event -> {});
            return new Runnable[] {
                () -> {
                    for (int i = 0; i < 20; i++) {
                        processor.registerConsumer("String", event -> {});
                    }
                },
                () -> {
                    for (int i = 0; i < 10; i++) {
                        processor.processEvent("event");
                    }
                },
            };
        });
    }
}
