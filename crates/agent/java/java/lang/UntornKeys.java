package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Ids of collection keys, for the classes whose equality is known: strings, boxes, enums and classes; and of fields, by
 * what accesses them ({@link UntornFields}).
 * Any other key has no id, and stands for the whole collection; its own {@code equals} is never called.
 *
 * Keys are kept as long as the program runs: they are few, or their collections are large anyway.
 */
final class UntornKeys {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long LOCK = U.allocateMemory(8);
    /** More keys than this, and new ones stand for the whole collection. */
    private static final int LIMIT = 1 << 20;

    private static volatile Key[] buckets = new Key[1024];
    private static int size;

    static {
        U.putInt(LOCK, 0);
    }

    private UntornKeys() {}

    private static final class Key {
        final Object value;
        final int hash;
        final long id;
        Key next;

        Key(Object value, int hash, long id, Key next) {
            this.value = value;
            this.hash = hash;
            this.id = id;
            this.next = next;
        }
    }

    /** The id of a key, or 0 if it has none. */
    static long id(Object key) {
        if (key == null) return 0;
        try {
            if (!known(key)) {
                UntornFields.Known of = UntornFields.isHandle(key) ? UntornFields.of(key) : null;
                if (of == null || of.name == null) return 0;
                key = of.name;
            }
            int hash = hash(key);
            Key found = look(buckets, key, hash);
            return found != null ? found.id : add(key, hash);
        } catch (VirtualMachineError noMemory) {
            return 0;
        }
    }

    private static boolean known(Object key) {
        Class<?> k = key.getClass();
        return k == String.class || k == Integer.class || k == Long.class || k == Character.class || k == Short.class
                || k == Byte.class || k == Boolean.class || key instanceof Enum || k == Class.class;
    }

    private static boolean byIdentity(Object key) {
        return key instanceof Enum || key instanceof Class;
    }

    private static int hash(Object key) {
        return byIdentity(key) ? System.identityHashCode(key) : key.hashCode();
    }

    private static boolean same(Object a, Object b) {
        return a == b || !byIdentity(a) && a.equals(b);
    }

    private static Key look(Key[] table, Object key, int hash) {
        for (Key k = table[hash & table.length - 1]; k != null; k = k.next) {
            if (k.hash == hash && same(k.value, key)) return k;
        }
        return null;
    }

    private static long add(Object key, int hash) {
        UntornThread.probe();
        if (size >= LIMIT) return 0;
        long id = UntornMemory.newKey();
        UntornNatives.nameKey(id, text(key));
        Key made = new Key(key, hash, id, null);
        Key[] grown = size > buckets.length ? new Key[buckets.length * 4] : null;
        for (int tries = 1; !U.compareAndSetInt(null, LOCK, 0, 1); tries++) UntornMemory.pause(tries);
        try {
            Key known = look(buckets, key, hash);
            if (known != null) return known.id;
            if (grown != null && grown.length > buckets.length) {
                for (Key head : buckets) {
                    for (Key k = head; k != null; k = k.next) {
                        int bucket = k.hash & grown.length - 1;
                        // Copies, so that lookups in the old table keep their chains.
                        grown[bucket] = new Key(k.value, k.hash, k.id, grown[bucket]);
                    }
                }
                U.storeFence();
                buckets = grown;
            }
            Key[] table = buckets;
            int bucket = hash & table.length - 1;
            made.next = table[bucket];
            U.storeFence();
            table[bucket] = made;
            size++;
            return id;
        } finally {
            // Also when there is no memory for the copies.
            U.putIntRelease(null, LOCK, 0);
        }
    }

    private static String text(Object key) {
        if (key instanceof String) return (String) key;
        if (key instanceof Long) return key.toString().concat("L");
        if (key instanceof Character) return "'".concat(key.toString()).concat("'");
        if (key instanceof Short) return "(short) ".concat(key.toString());
        if (key instanceof Byte) return "(byte) ".concat(key.toString());
        if (key instanceof Enum) return key.getClass().getName().concat(".").concat(((Enum<?>) key).name());
        if (key instanceof Class) return ((Class<?>) key).getName();
        return key.toString();
    }
}
