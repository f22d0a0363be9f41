package java.lang;

/** The locks that a thread shares with other readers, as far as the reader knows, with how often it has taken each. */
final class UntornReads {
    private UntornEntry[] locks = new UntornEntry[2];
    private int[] depths = new int[2];
    private int size;

    private int find(UntornEntry lock) {
        int i = size - 1;
        while (i >= 0 && locks[i] != lock) i--;
        return i;
    }

    boolean holds(UntornEntry lock) {
        return find(lock) >= 0;
    }

    /** Whether there was memory for it. */
    boolean add(UntornEntry lock) {
        int i = find(lock);
        if (i < 0) {
            if (size == locks.length && !grow()) return false;
            i = size++;
            locks[i] = lock;
            depths[i] = 0;
        }
        depths[i]++;
        return true;
    }

    private boolean grow() {
        try {
            UntornEntry[] moreLocks = new UntornEntry[size * 2];
            int[] moreDepths = new int[size * 2];
            System.arraycopy(locks, 0, moreLocks, 0, size);
            System.arraycopy(depths, 0, moreDepths, 0, size);
            locks = moreLocks;
            depths = moreDepths;
            return true;
        } catch (VirtualMachineError noMemory) {
            return false;
        }
    }

    /** Whether it was there. */
    boolean drop(UntornEntry lock) {
        int i = find(lock);
        if (i < 0) return false;
        if (--depths[i] == 0) {
            size--;
            locks[i] = locks[size];
            depths[i] = depths[size];
            locks[size] = null;
        }
        return true;
    }
}
