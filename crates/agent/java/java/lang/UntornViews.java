package java.lang;

/** Where the platform's views, wrappers and iterators of collections keep the collection that they are of. */
final class UntornViews {
    private UntornViews() {}

    /** Classes that do not keep it as the instance around them. */
    private static final String[][] FIELDS = {
        {"java.util.HashSet", "map"},
        {"java.util.TreeSet", "m"},
        {"java.util.Collections$SynchronizedCollection", "c"},
        {"java.util.Collections$SynchronizedMap", "m"},
        {"java.util.Collections$UnmodifiableCollection", "c"},
        {"java.util.Collections$UnmodifiableCollection$1", "i"},
        {"java.util.Collections$UnmodifiableMap", "m"},
        {"java.util.Collections$CheckedCollection", "c"},
        {"java.util.Collections$CheckedMap", "m"},
        {"java.util.Collections$SetFromMap", "m"},
        {"java.util.ArrayList$SubList", "root"},
        {"java.util.TreeMap$KeySet", "m"},
        {"java.util.concurrent.ConcurrentHashMap$CollectionView", "map"},
        {"java.util.concurrent.ConcurrentHashMap$BaseIterator", "map"},
        {"java.util.concurrent.ConcurrentSkipListSet", "m"},
        {"java.util.concurrent.ConcurrentSkipListMap$KeySet", "m"},
        {"java.util.concurrent.ConcurrentSkipListMap$Values", "m"},
        {"java.util.concurrent.ConcurrentSkipListMap$EntrySet", "m"},
        {"java.util.concurrent.CopyOnWriteArraySet", "al"},
    };

    /** The offset of the field, declared by a class or one above it; not positive for none. */
    static long inner(Class<?> k) {
        for (Class<?> at = k.isArray() ? null : k; at != null; at = at.getSuperclass()) {
            if (at.getClassLoader0() != null) continue;
            String name = at.getName();
            if (!name.startsWith("java.util.")) continue;
            for (String[] known : FIELDS) {
                if (known[0].equals(name)) return UntornWords.fieldOffset(at, known[1]);
            }
            if (name.indexOf('$') < 0 || name.startsWith("java.util.concurrent.locks.")) continue;
            long around = UntornWords.fieldOffset(at, "this$0");
            if (around > 0 && isCollection(at.getNestHost())) return around;
        }
        return 0;
    }

    private static boolean isCollection(Class<?> k) {
        return java.util.Collection.class.isAssignableFrom(k) || java.util.Map.class.isAssignableFrom(k);
    }
}
