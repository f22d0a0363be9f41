package java.lang;

import jdk.internal.vm.annotation.DontInline;

import static java.lang.UntornRecord.*;
import static java.lang.UntornMemory.*;

/**
 * Regions that were not meant to be one step: those that are open for long are none from then on.
 */
abstract class UntornDemotion extends UntornPauses {
    /**
     * For how long a region that nobody but a rule of thumb proposes may be open: as many records of its thread, or in a first
     * run regions in it; one that says that it depends on another thread counts as {@link #DEPENDENCE} of them.
     */
    static final int LONG = 4096, DEPENDENCE = 32;

    UntornDemotion(int id) {
        super(id);
    }

    /** How much this thread has done, in the measure of {@link #LONG}; only differences mean something. */
    int time() {
        return UntornMode.FIRST ? delays : (int) position + delays;
    }

    @Override
    void watchAge() {
        if ((int) open == 0 || UntornMode.SECOND || time() - begun[0] < LONG) return;
        overdue = true;
        poll = 1;
    }

    /**
     * Demotes the open regions that have been open for long, unless somebody said that they are meant to be one step: from now
     * on none of their executions is a region. Those that are open end here, for whoever reads the log; if a younger one is
     * open within, when that has ended, so that it stays whole. Frames notice at their exits that theirs is not open any more.
     */
    @Override
    @DontInline
    void retire() {
        overdue = false;
        if (lost != NOTHING_LOST) unwind();
        int depth = (int) open;
        if (plain || !UntornRuntime.on || UntornMode.SECOND || depth == 0 || depth > REGIONS || parted >= 0) return;
        // What an initializer does is no part of the region around it.
        if (isInitializing()) return;
        probe();
        int now = time();
        int old = 0;
        while (old < depth && now - begun[old] >= LONG) {
            if ((regions[old] & UntornMode.GUESS) != 0) demote(regions[old] & UntornMode.NUMBER, now - begun[old]);
            old++;
        }
        if (old < depth) {
            overdue = old > 0;
            return;
        }
        while ((int) open > 0 && (regions[(int) open - 1] & UntornMode.GUESS) != 0) {
            if (!UntornMode.FIRST && written == (int) open) log(END, regions[(int) open - 1] & UntornMode.NUMBER);
            open--;
            written = Math.min(written, (int) open);
        }
        if (UntornMode.FIRST && (int) open == 0) turn(0);
    }

    /** No execution of a region is one from now on; the reader is told, and for how long it was open. */
    private static void demote(int number, int age) {
        globalLock();
        try {
            if (regionStates[number] == DEMOTED) return;
            regionStates[number] = DEMOTED;
            long at = U.getLong(memory + CONTROL_DEMOTED);
            if (at < DEMOTIONS) U.putLong(memory + CONTROL_DEMOTIONS + at * 8, (long) age << 32 | number);
            U.putLongRelease(null, memory + CONTROL_DEMOTED, at + 1);
        } finally {
            globalUnlock();
        }
    }
}
