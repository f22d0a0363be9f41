package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** Where the shadow words are: of an object by the field that a site names, and of static fields by their ids. */
final class UntornWords {
    private static final Unsafe U = Unsafe.getUnsafe();

    private UntornWords() {}

    /** Words of static fields by their ids. Replaced when it grows. */
    private static volatile UntornWord[] statics = new UntornWord[1024];
    /** Where the shadow word of a site's object is: 0 unknown yet, -1 nowhere, else the offset. Replaced when it grows. */
    private static volatile long[] offsets = new long[1024];

    /** Where the word is that belongs to a site's field; not positive if nowhere. */
    @ForceInline
    static long offset(Object o, int number) {
        long[] known = offsets;
        long offset = number < known.length ? known[number] : 0;
        return offset == 0 ? findOffset(o, number) : offset;
    }

    @ForceInline
    static UntornWord word(int field) {
        UntornWord[] all = statics;
        UntornWord word = field < all.length ? all[field] : null;
        return word != null ? word : staticWord(field);
    }

    /** The word of a static field that has none yet; its class is initialized, so it is known which field it is. */
    @DontInline
    private static UntornWord staticWord(int field) {
        UntornThread.probe();
        try {
            int same = UntornNatives.sameField(field);
            UntornWord made = same == field ? new UntornWord() : staticWord(same);
            UntornWord[] grown = field < statics.length ? null : new UntornWord[Math.max(field + 1, statics.length * 2)];
            UntornMemory.globalLock();
            try {
                UntornWord[] all = statics;
                if (grown != null && grown.length > all.length) {
                    System.arraycopy(all, 0, grown, 0, all.length);
                    all = grown;
                }
                if (field >= all.length) return null;
                if (all[field] != null) return all[field];
                U.storeFence();
                all[field] = made;
                statics = all;
                return made;
            } finally {
                UntornMemory.globalUnlock();
            }
        } catch (VirtualMachineError noMemory) {
            return null;
        }
    }

    /**
     * Finds the word that belongs to a site's field: the nearest {@code $untorn} at or above the class that declares it.
     * A class between two instrumented ones that is itself excluded gives its subclass a second word, so the class that
     * the site names is not enough.
     */
    @DontInline
    private static long findOffset(Object o, int site) {
        UntornThread.probe();
        long offset = -1;
        try {
            String className = UntornNatives.siteClass(site), field = UntornNatives.siteField(site);
            Class<?> k = o.getClass();
            while (k != null && !k.getName().equals(className)) k = k.getSuperclass();
            while (k != null && fieldOffset(k, field) < 0) k = k.getSuperclass();
            while (k != null && (offset = fieldOffset(k, UntornHooks.PREFIX)) < 0) k = k.getSuperclass();
            remember(site, offset);
        } catch (Throwable unknown) {
            return -1;
        }
        return offset;
    }

    /** The offset of a field that the class itself declares, or -1. */
    static long fieldOffset(Class<?> k, String name) {
        try {
            return U.objectFieldOffset(k, name);
        } catch (InternalError none) {
            return -1;
        }
    }

    private static void remember(int site, long offset) {
        long[] grown = site < offsets.length ? null : new long[Math.max(site + 1, offsets.length * 2)];
        UntornMemory.globalLock();
        try {
            long[] known = offsets;
            if (grown != null && grown.length > known.length) {
                System.arraycopy(known, 0, grown, 0, known.length);
                offsets = known = grown;
            }
            if (site < known.length) known[site] = offset;
        } finally {
            UntornMemory.globalUnlock();
        }
    }
}
