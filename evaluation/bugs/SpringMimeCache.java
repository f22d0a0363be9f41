import org.springframework.util.MimeTypeUtils;

/** Two threads ask a full cache for the same type: both take it out of the queue of what was used last, and both put it back. */
public class SpringMimeCache {
    private static final int MORE_THAN_IT_HOLDS = 70;

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < MORE_THAN_IT_HOLDS; i++) {
            MimeTypeUtils.parseMimeType("text/filler" + i);
        }
        Rounds.race(300, 2, number -> {
            String type = "text/kind" + number % 10;
            MimeTypeUtils.parseMimeType(type);
            Runnable ask = () -> MimeTypeUtils.parseMimeType(type);
            return new Runnable[] {ask, ask};
        });
    }
}
