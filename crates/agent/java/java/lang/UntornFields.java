package java.lang;

import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import jdk.internal.misc.Unsafe;

/**
 * Which instance field a field updater or variable handle is for: its offset, which tells the fields of one object apart
 * whoever made the updater. What its own fields say is read, as no method tells.
 */
final class UntornFields {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final int BUCKETS = 256;

    /** A handle with what was found out; buckets lose what two threads add at once, to be found again. */
    private static final class Known extends WeakReference<Object> {
        final String field;
        final Known next;

        Known(Object handle, String field, Known next) {
            super(handle);
            this.field = field;
            this.next = next;
        }
    }

    private static final Known[] known = new Known[BUCKETS];

    private UntornFields() {}

    static boolean isHandle(Object o) {
        return o instanceof VarHandle || o instanceof AtomicIntegerFieldUpdater || o instanceof AtomicLongFieldUpdater
                || o instanceof AtomicReferenceFieldUpdater;
    }

    /** What tells the field of a handle from others of one object; null if it is not that of an instance field. */
    static String of(Object handle) {
        int bucket = System.identityHashCode(handle) & BUCKETS - 1;
        Known first = known[bucket];
        for (Known k = first; k != null; k = k.next) {
            if (k.refersTo(handle)) return k.field;
        }
        String field;
        try {
            field = find(handle);
        } catch (Throwable notAsExpected) {
            field = null;
        }
        Known made = new Known(handle, field, living(first));
        U.storeFence();
        known[bucket] = made;
        return field;
    }

    private static Known living(Known from) {
        Known k = from;
        while (k != null && k.refersTo(null)) k = k.next;
        return k;
    }

    private static String find(Object handle) {
        boolean variable = handle instanceof VarHandle;
        long place = declared(handle.getClass(), variable ? "fieldOffset" : "offset");
        if (place <= 0 || declared(handle.getClass(), variable ? "receiverType" : "tclass") <= 0) return null;
        // Its name would have to be looked up by reflection, which may load classes: no time for that.
        return "field at ".concat(Long.toString(U.getLong(handle, place)));
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
