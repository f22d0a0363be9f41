package whole;

import java.util.HashSet;
import java.util.Set;

/** Every operation is one step; an order depends on identities. */
public class Identities {
    private static final class Key {
        private final String name;

        Key(String name) {
            this.name = name;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final Set<Key> keys = new HashSet<>();

    public synchronized void add(String name) {
        keys.add(new Key(name));
        keys.add(new Key(name + "2"));
    }

    public synchronized String first() {
        return keys.isEmpty() ? null : keys.iterator().next().toString();
    }

    public synchronized String addAndShow(String name) {
        keys.add(new Key(name));
        keys.add(new Key(name + "3"));
        return keys.toString();
    }

    public synchronized void clear() {
        keys.clear();
    }

    public synchronized int bits() {
        return System.identityHashCode(this) & 3;
    }
}
