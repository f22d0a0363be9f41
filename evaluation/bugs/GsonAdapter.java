import com.google.gson.Gson;

/** Two threads ask for the adapter of one type for the first time: both make one, and the second one replaces the first. */
public class GsonAdapter {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            Gson gson = new Gson();
            Runnable ask = () -> gson.getAdapter(Point.class);
            return new Runnable[] {ask, ask};
        });
    }

    static final class Point {
        int x;
        int y;
    }
}
