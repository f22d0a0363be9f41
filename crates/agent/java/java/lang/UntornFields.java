package java.lang;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import jdk.internal.misc.Unsafe;

/**
 * What a field updater or variable handle is for. No method tells, so its own fields are read: they hold the class and the
 * offset of a field, by which it is found among those that the class declares.
 */
final class UntornFields {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int BUCKETS = 256;
    /** What makes a handle of a static field initialize its class at the first use, on newer platforms. */
    private static final String LAZY = "java.lang.invoke.LazyInitializingVarHandle";

    /** What was found out about a handle; buckets lose what two threads add at once, to be found again. */
    static final class Known extends WeakReference<Object> {
        /** The number of a field of a watched class; -1 for none. */
        int field = -1;
        boolean isStatic;
        /** Where objects have the shadow word that belongs to it, and where the handle keeps their class. */
        long word;
        private long type;
        /** What it accesses is an element of an array as such. */
        boolean isElement;
        /** What tells the field from others of its object, if it is one of an object. */
        String name;
        private Known next;

        private Known(Object handle) {
            super(handle);
        }

        /** Whether its field is one of that object, by the handle that it was made for. */
        boolean isOf(Object o, Object handle) {
            return type > 0 && ((Class<?>) U.getReference(handle, type)).isInstance(o);
        }
    }

    private static final Known[] known = new Known[BUCKETS];

    private UntornFields() {}

    static boolean isHandle(Object o) {
        return o instanceof VarHandle || o instanceof AtomicIntegerFieldUpdater || o instanceof AtomicLongFieldUpdater
                || o instanceof AtomicReferenceFieldUpdater;
    }

    /** What is known of a handle; null where memory is short. No word is held: it may be looked for. */
    static Known of(Object handle) {
        int bucket = System.identityHashCode(handle) & BUCKETS - 1;
        Known first = known[bucket];
        for (Known k = first; k != null; k = k.next) {
            if (k.refersTo(handle)) return k;
        }
        UntornThread.probe();
        try {
            Known made = new Known(handle);
            if (!find(handle, made)) return made;
            made.next = living(first);
            U.storeFence();
            known[bucket] = made;
            return made;
        } catch (VirtualMachineError noMemory) {
            return null;
        }
    }

    private static Known living(Known from) {
        Known k = from;
        while (k != null && k.refersTo(null)) k = k.next;
        return k;
    }

    /** Finds out what a handle is for; whether that will not change. */
    private static boolean find(Object handle, Known made) {
        Class<?> k = handle.getClass();
        // A program may extend the updaters.
        if (k.getClassLoader0() != null) return true;
        if (handle instanceof VarHandle) {
            if (k.getName().equals(LAZY)) {
                handle = U.getReference(handle, declared(k, "target"));
                k = handle.getClass();
            }
            long offset = declared(k, "fieldOffset");
            if (offset <= 0) {
                made.isElement = k.getName().startsWith("java.lang.invoke.VarHandle") && k.getName().endsWith("$Array");
                return true;
            }
            long type = declared(k, "receiverType");
            if (type > 0) return ofObjects(handle, offset, type, made);
            return ofClass((VarHandle) handle, U.getLong(handle, offset), made);
        }
        long offset = declared(k, "offset"), type = declared(k, "tclass");
        return offset <= 0 || type <= 0 || ofObjects(handle, offset, type, made);
    }

    /** Finds an instance field by what the handle has in those places. */
    private static boolean ofObjects(Object handle, long offset, long type, Known made) {
        long place = U.getLong(handle, offset);
        made.name = "field at ".concat(Long.toString(place));
        Class<?> k = (Class<?>) U.getReference(handle, type);
        for (; k != null; k = k.getSuperclass()) {
            String name = named(k, place);
            if (name == null) continue;
            long word = word(k);
            if (word <= 0) return true;
            made.word = word;
            made.type = type;
            made.field = UntornNatives.field(k, name, false);
            return true;
        }
        return true;
    }

    /** Finds a static field by its offset. */
    private static boolean ofClass(VarHandle handle, long place, Known made) {
        long base = declared(handle.getClass(), "base");
        Object of = base > 0 ? U.getReference(handle, base) : null;
        if (!(of instanceof Class)) return true;
        Class<?> k = (Class<?>) of;
        // To ask for its fields would initialize it, which is left to the program.
        if (U.shouldBeInitialized(k)) return false;
        String names = UntornNatives.declares(k, true), type = handle.varType().descriptorString();
        for (int from = 0; names != null && from < names.length(); ) {
            int to = end(names, from);
            String name = names.substring(from, to);
            Object field = UntornNatives.staticField(k, name, type);
            if (field != null && U.staticFieldOffset((Field) field) == place) {
                made.field = UntornNatives.field(k, name, true);
                made.isStatic = true;
                return true;
            }
            from = to + 1;
        }
        return true;
    }

    /** The instance field that a watched class declares at an offset; null if there is none. */
    private static String named(Class<?> k, long place) {
        String names = UntornNatives.declares(k, false);
        for (int from = 0; names != null && from < names.length(); ) {
            int to = end(names, from);
            String name = names.substring(from, to);
            if (UntornWords.fieldOffset(k, name) == place) return name;
            from = to + 1;
        }
        return null;
    }

    private static int end(String names, int from) {
        int to = names.indexOf('\n', from);
        return to < 0 ? names.length() : to;
    }

    /** Where the word is that belongs to the fields which a class declares, as {@link UntornWords} finds it; -1 for nowhere. */
    private static long word(Class<?> k) {
        long word = -1;
        for (; k != null && word < 0; k = k.getSuperclass()) word = UntornWords.fieldOffset(k, UntornHooks.PREFIX);
        return word;
    }

    /** Where a class, or one above it, declares a field. */
    private static long declared(Class<?> k, String name) {
        for (Class<?> at = k; at != null; at = at.getSuperclass()) {
            long offset = UntornWords.fieldOffset(at, name);
            if (offset > 0) return offset;
        }
        return 0;
    }
}
