package repaired;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Repaired: Users.register is one step now; before: containsKey and put of a concurrent map declared as Map. */
public class MapDeclared {
    static class Users {
        final Map<String, Object> users = new ConcurrentHashMap<>();
        boolean register(String name) {
            Pause.here();
            return users.putIfAbsent(name, new Object()) == null;
        }
    }

    public static void main(String[] args) {
        Users c = new Users();
        Pause.race(() -> c.register("u"), () -> c.register("u"));
    }
}
