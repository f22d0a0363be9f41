package java.lang;

/** Elements of arrays as {@link UntornShadow} orders accesses to them. */
final class UntornArrays {
    /** Arrays up to this length have a word per element, longer ones share so many words. */
    static final int ARRAY_WORDS = 64;

    private UntornArrays() {}

    static void lock(Object array, int index, int site, UntornThread c) {
        if (UntornMode.SECOND && c.skip) return;
        if (c.held != null && !UntornShadow.recover(c)) return;
        int length = java.lang.reflect.Array.getLength(array);
        if (index < 0 || index >= length) return;
        UntornEntry entry = UntornTable.find(array, c);
        if (entry == null) return;
        UntornWord[] words = entry.words(length);
        if (words == null) return;
        c.operand = entry.objectId(c);
        if (c.operand == 0) return;
        UntornShadow.take(words[(int) ((long) index * words.length / length)], UntornWord.WORD, site, c);
    }

    static void unlock(Object array, int index, int site, UntornThread c) {
        if (c.held == null || c.silent) return;
        c.writePart((long) UntornRecord.ELEMENT << UntornRecord.OP_SHIFT | index);
        // All words of an array stand for one object.
        c.word = c.word & ~UntornShadow.OBJECT | c.operand;
        UntornShadow.unlock(c.held, site, c);
    }
}
