package java.lang;

/**
 * The locks that a thread shares with other readers, with how often it has taken each: as far as the reader knows, and
 * besides that, where what the thread did was left out.
 */
final class UntornReads {
    private UntornEntry[] locks = new UntornEntry[2];
    private int[] depths = new int[2];
    private int[] leftOut = new int[2];
    private int size;

    private int find(UntornEntry lock) {
        int i = size - 1;
        while (i >= 0 && locks[i] != lock) i--;
        return i;
    }

    /** Whether the reader knows of a hold. */
    boolean holds(UntornEntry lock) {
        int i = find(lock);
        return i >= 0 && depths[i] > 0;
    }

    boolean hasLeftOut(UntornEntry lock) {
        int i = find(lock);
        return i >= 0 && leftOut[i] > 0;
    }

    /** Whether there was memory for it. */
    boolean add(UntornEntry lock) {
        int i = place(lock);
        if (i < 0) return false;
        depths[i]++;
        return true;
    }

    /** The same for a hold that the reader is not told of. */
    boolean addLeftOut(UntornEntry lock) {
        int i = place(lock);
        if (i < 0) return false;
        leftOut[i]++;
        return true;
    }

    private int place(UntornEntry lock) {
        int i = find(lock);
        if (i < 0) {
            if (size == locks.length && !grow()) return -1;
            i = size++;
            locks[i] = lock;
            depths[i] = leftOut[i] = 0;
        }
        return i;
    }

    private boolean grow() {
        try {
            UntornEntry[] moreLocks = new UntornEntry[size * 2];
            int[] moreDepths = new int[size * 2], moreLeftOut = new int[size * 2];
            System.arraycopy(locks, 0, moreLocks, 0, size);
            System.arraycopy(depths, 0, moreDepths, 0, size);
            System.arraycopy(leftOut, 0, moreLeftOut, 0, size);
            locks = moreLocks;
            depths = moreDepths;
            leftOut = moreLeftOut;
            return true;
        } catch (VirtualMachineError noMemory) {
            return false;
        }
    }

    /** Whether it was there. */
    boolean drop(UntornEntry lock) {
        int i = find(lock);
        if (i < 0 || depths[i] == 0) return false;
        depths[i]--;
        close(i);
        return true;
    }

    boolean dropLeftOut(UntornEntry lock) {
        int i = find(lock);
        if (i < 0 || leftOut[i] == 0) return false;
        leftOut[i]--;
        close(i);
        return true;
    }

    private void close(int i) {
        if (depths[i] + leftOut[i] > 0) return;
        size--;
        locks[i] = locks[size];
        depths[i] = depths[size];
        leftOut[i] = leftOut[size];
        locks[size] = null;
    }
}
