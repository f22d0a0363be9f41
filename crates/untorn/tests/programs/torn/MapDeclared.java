package torn;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import schedule.Pause;

/** Torn: Users.register: containsKey and put of a concurrent map declared as Map. */
public class MapDeclared {
    static class Users {
        final Map<String, Object> users = new ConcurrentHashMap<>();
        boolean register(String name) {
            if (users.containsKey(name)) {
                return false;
            }
            Pause.here();
            users.put(name, new Object());
            return true;
        }
    }

    public static void main(String[] args) {
        Users c = new Users();
        Pause.race(() -> c.register("u"), () -> c.register("u"));
    }
}
