package java.lang;

import jdk.internal.vm.annotation.DontInline;

import static java.lang.UntornRecord.*;

/**
 * Where regions are divided, since their thread waits for others.
 */
abstract class UntornPauses extends UntornRegions {
    /** How many records may lie between that and the waiting itself: a signal, and edges. */
    private static final int SOON = 4;

    UntornPauses(int id) {
        super(id);
    }

    /** This thread is about to wait, or spins. */
    @DontInline
    void waits() {
        split();
        waitsAt = position;
    }

    /** This thread has waited, if it was told to a moment ago; nothing is logged of that yet. */
    void waited() {
        // A first run has no positions, and may take more to be one step than there is.
        if (!UntornMode.FIRST && position - waitsAt <= SOON) split();
    }

    /** Ends the open regions and begins them anew. */
    void split() {
        part();
        rejoin();
    }

    /**
     * Ends the open regions, but for those that are meant to be one step nevertheless and what is around them; if there are
     * more than are known by name, none. Until {@link #rejoin} nothing else begins or ends.
     */
    @DontInline
    void part() {
        parted = -1;
        int depth = (int) open;
        if (plain || !UntornRuntime.on || depth == 0 || depth > REGIONS || UntornMode.SECOND && skip) return;
        // What an initializer does is no part of the region around it.
        if (isInitializing()) return;
        probe();
        int first = depth;
        while (first > 0 && (regions[first - 1] & UntornMode.WHOLE) == 0) first--;
        parted = first;
        if (UntornMode.FIRST) {
            if (first == 0) turn(0);
            return;
        }
        while (written > first) {
            log(END, regions[written - 1] & UntornMode.NUMBER);
            written--;
        }
    }

    @Override
    @DontInline
    void rejoin() {
        int first = parted;
        parted = -1;
        if (first < 0) return;
        if (UntornMode.FIRST) {
            if (first == 0) turn((regions[0] & UntornMode.NUMBER) + 1);
            return;
        }
        setLimit();
    }
}
