import com.squareup.moshi.JsonAdapter;
import com.squareup.moshi.Moshi;

/** Two threads ask for the adapter of a type that refers to itself: one that is not finished is seen in the cache. */
public class MoshiAdapter {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(150, 2, number -> {
            Moshi moshi = new Moshi.Builder().build();
            Runnable ask = () -> {
                JsonAdapter<Node> adapter = moshi.adapter(Node.class);
                adapter.toJson(new Node());
            };
            return new Runnable[] {ask, ask};
        });
    }

    static final class Node {
        Node next;
        int value;
    }
}
