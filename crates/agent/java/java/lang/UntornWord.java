package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * A shadow word that lies in no object of the program: of a static field, or of array elements.
 * An object each, since the platform's constants for offsets into arrays changed their type between versions.
 */
final class UntornWord {
    static final long WORD = Unsafe.getUnsafe().objectFieldOffset(UntornWord.class, "word");

    private long word;
}
