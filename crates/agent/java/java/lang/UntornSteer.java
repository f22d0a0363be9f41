package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * Holds threads up so that what a plan describes happens if it can: active testing as in AtomFuzzer (Park and Sen, FSE 2008)
 * and CTrigger (Park, Lu and Zhou, ASPLOS 2009).
 *
 * <p>Inserted code calls {@link #step} before accesses, calls and monitors, where no access is under way. A thread in a
 * plan's region notes there what it accesses. Once it has passed the pause point it waits at its next step, until another
 * thread comes to an access that conflicts with what was noted (same object, same field, one writes), has gone on from
 * there to the end of its outermost region, is blocked or {@link #AFTER} has passed. A thread that comes to a partner's
 * place first waits likewise for a thread that pauses there.
 *
 * <p>That a thread waits changes nothing that the program could not see without us: it sleeps as a slow thread would, for
 * a bounded time, is interrupted only afterwards, and throws nothing. It is at a safe point and blocked for
 * {@link UntornEpoch}, so who wants what it owns need not wait for it.
 *
 * <p>Nobody waits in vain for long: a wait ends
 * <ul>
 * <li>when another thread is blocked on a lock that the waiting thread holds; then it goes on, and tries again once it
 *     holds that lock no more. What the first try shows is remembered in the plan.
 * <li>when no thread is left that could come: every other one is blocked, waits without a limit, or is held up by us.
 * <li>when the plan's patience is over, which is halved each time, and more and more executions are left alone in between.
 * <li>when all waits of the process have taken the time that was allowed for them.
 * </ul>
 */
final class UntornSteer {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long PAUSER = U.objectFieldOffset(UntornPlan.class, "pauser");

    /** In the flags of a step: it writes. Below {@link #PLAN_SHIFT}, the place that it is at; above, the plan whose partner it may be. */
    static final int WRITES = 1 << 30;
    static final int PLAN_SHIFT = 16, PLACE = (1 << PLAN_SHIFT) - 1, PLAN = 63;
    /** In the place of a location. */
    static final int NO_ACCESS = -1;
    /** What an object holds. */
    static final int CONTENT = -2;
    /** In a region's number: the plan that is about it. */
    static final int REGION_SHIFT = 22, REGION = PLAN << REGION_SHIFT;

    /** What became of a pause, as the agent counts it. */
    private static final int REACHED = 0, MET = 1, LATE = 2, NEEDED = 3, ALONE = 4, WAITED = 5, JOINED = 6;

    /**
     * Nanoseconds that a thread goes on waiting after a partner came, at most, and before it asks whether that one runs at
     * all: on a busy machine a thread may be long in getting on, and one access alone may not be what tears.
     */
    private static final long AFTER = 40_000_000, AFTER_LOOK = 2_000_000;
    /** The shortest patience, and how long a plan may take of each process altogether. */
    private static final long LEAST = 5_000_000, PER_PLAN = 1_500_000_000;
    /** Microseconds from one look to the next. */
    private static final int NAP = 100;
    /** Naps from one look at the other threads to the next, and looks in a row that must find nobody. */
    private static final int LOOKS = 8, ALONE_LOOKS = 3;
    /** How often an execution of a region tries again after it had to go on. */
    private static final int RETRIES = 8;
    /** How often a partner may come before a plan is left alone: what did not happen by then takes another plan. */
    private static final int ENOUGH = 4;
    /** How many accesses of a region are remembered. */
    private static final int NOTED = 16;

    private static final UntornPlan[] PLANS;
    /** Nanoseconds that all waits may take together. */
    private static final long MOST;

    /** What is changed atomically. */
    private static final class Counter {
        /** How many threads pause now; who finds none has nothing to look for. */
        volatile int pausing;
        /** Nanoseconds that all waits have taken. */
        volatile long spent;
    }

    private static final long PAUSING = U.objectFieldOffset(Counter.class, "pausing");

    private static final Counter COUNTER = new Counter();
    private static final long SPENT = U.objectFieldOffset(Counter.class, "spent");

    static {
        String text = UntornNatives.steering();
        int[] at = {0};
        long most = text == null ? 0 : next(text, at) * 1_000_000L;
        UntornPlan[] plans = new UntornPlan[text == null ? 0 : (int) next(text, at)];
        for (int i = 0; i < plans.length; i++) {
            long patience = next(text, at) * 1_000_000L;
            int[] points = new int[(int) next(text, at)];
            for (int j = 0; j < points.length; j++) points[j] = (int) next(text, at);
            plans[i] = new UntornPlan(i, patience, points);
        }
        MOST = most;
        PLANS = plans;
    }

    private UntornSteer() {}

    /** The next of the numbers that a text consists of. */
    private static long next(String text, int[] at) {
        int i = at[0];
        boolean negative = text.charAt(i) == '-';
        if (negative) i++;
        long number = 0;
        while (i < text.length() && text.charAt(i) != ' ') number = number * 10 + text.charAt(i++) - '0';
        at[0] = i + 1;
        return negative ? -number : number;
    }

    // ---- regions --------------------------------------------------------------------------------------------------

    /** A region is about to begin; its number without the plan. */
    @DontInline
    static int begins(int region, UntornThread c) {
        int plan = region >>> REGION_SHIFT & PLAN;
        if ((int) c.open == 0) c.outermost++;
        if (c.steeredBy != null && (int) c.open <= c.steeredFrom) leave(c);
        // Of nested ones the outer, until it has paused: the inner one's turn comes in another execution.
        boolean free = c.steeredBy == null || c.hasPaused && c.steeredBy.number != plan - 1;
        if (plan != 0 && plan <= PLANS.length && free) enter(PLANS[plan - 1], c);
        return region & ~REGION;
    }

    private static void enter(UntornPlan plan, UntornThread c) {
        if (c.touched == null) {
            try {
                c.touchedAt = new int[NOTED];
                c.touched = new Object[NOTED];
            } catch (OutOfMemoryError none) {
                return;
            }
        }
        forget(c);
        c.steeredBy = plan;
        c.steeredFrom = (int) c.open;
        c.steeredMonitors = c.open >>> 32;
        c.touches = 0;
        c.isPending = false;
        c.hasPaused = false;
        c.retries = 0;
        c.neededLock = null;
        int points = plan.points.length;
        c.point = points == 0 ? 0 : (plan.turn & Integer.MAX_VALUE) % points;
    }

    private static void leave(UntornThread c) {
        // An execution that does not get as far as its point leaves the turn to the next point, or all that follow would wait for it.
        UntornPlan plan = c.steeredBy;
        if (plan != null && plan.always && !c.hasPaused) plan.turn++;
        c.steeredBy = null;
        c.neededLock = null;
        forget(c);
    }

    /** Nothing stays alive for us. */
    private static void forget(UntornThread c) {
        Object[] noted = c.touched;
        for (int i = 0; noted != null && i < noted.length; i++) noted[i] = null;
    }

    /** A region has ended. */
    static void ended(UntornThread c) {
        if (c.steeredBy != null && (int) c.open <= c.steeredFrom) leave(c);
    }

    // ---- steps ----------------------------------------------------------------------------------------------------

    /** Before an access, or where nothing is accessed. The thread is at no access of its own. */
    static void step(Object o, int location, int flags, UntornThread c) {
        UntornPlan plan = c.steeredBy;
        if (plan != null) {
            if ((int) c.open <= c.steeredFrom) {
                leave(c);
                plan = null;
            } else if (c.isPending) {
                pause(plan, c);
            }
        }
        if (location == NO_ACCESS) return;
        int wanted = flags >>> PLAN_SHIFT & PLAN;
        boolean arrives = COUNTER.pausing != 0 && arrive(o, location, flags, c);
        if (!arrives && wanted != 0 && wanted <= PLANS.length) awaitPauser(PLANS[wanted - 1], o, location, flags, c);
        if (plan != null && !c.hasPaused && !c.isPending) note(plan, o, location, flags, c);
    }

    /** The region's thread is about to access something. */
    private static void note(UntornPlan plan, Object o, int location, int flags, UntornThread c) {
        int at = c.touches++ % NOTED;
        c.touched[at] = o;
        c.touchedAt[at] = location << 1 | ((flags & WRITES) != 0 ? 1 : 0);
        if (plan.points.length == 0) return;
        int point = plan.points[c.point];
        boolean passes = point > 0 ? (flags & PLACE) == point : c.touches == -point;
        if (!passes) return;
        c.isPending = true;
    }

    /** Whether an access conflicts with one that a thread, which pauses, has noted. */
    private static boolean conflicts(UntornThread pauser, Object o, int location, int flags) {
        Object[] noted = pauser.touched;
        int[] at = pauser.touchedAt;
        int count = Math.min(pauser.touches, NOTED);
        boolean writes = (flags & WRITES) != 0;
        for (int i = 0; i < count; i++) {
            if (noted[i] == o && at[i] >> 1 == location && (writes || (at[i] & 1) != 0)) return true;
        }
        return false;
    }

    /** Tells threads that pause that this one comes to a conflicting access. */
    private static boolean arrive(Object o, int location, int flags, UntornThread c) {
        boolean arrives = false;
        for (UntornPlan plan : PLANS) {
            UntornThread pauser = plan.pauser;
            if (pauser == null || pauser == c || plan.partner != null || !conflicts(pauser, o, location, flags)) continue;
            plan.partnersRegion = (int) c.open == 0 ? -1 : c.outermost;
            plan.partner = c;
            arrives = true;
        }
        return arrives;
    }

    // ---- waits ----------------------------------------------------------------------------------------------------

    /** The region's thread has passed its pause point. */
    @DontInline
    private static void pause(UntornPlan plan, UntornThread c) {
        if (UntornNeeds.isHeld(c.neededLock)) return;
        if (plan.needsLock && c.open >>> 32 > c.steeredMonitors) return;
        if (plan.skips > 0 && c.retries == 0) {
            plan.skips--;
            settle(c);
            return;
        }
        if (isOver(plan)) {
            settle(c);
            return;
        }
        UntornThread.probe();
        if (!U.compareAndSetReference(plan, PAUSER, null, c)) {
            // This one is the partner.
            settle(c);
            return;
        }
        int came = LATE;
        long start = System.nanoTime();
        try {
            plan.partner = null;
            U.getAndAddInt(COUNTER, PAUSING, 1);
            if (c.retries == 0) UntornNatives.steered(plan.number, c.point, REACHED);
            came = awaitPartner(plan, start, c);
        } finally {
            plan.pauser = null;
            U.getAndAddInt(COUNTER, PAUSING, -1);
            spend(plan, System.nanoTime() - start);
        }
        UntornNatives.steered(plan.number, c.point, came);
        if (came == NEEDED) plan.needsLock = true;
        if (came == MET) {
            plan.met++;
            plan.nextSkips = 0;
        } else if (c.retries == 0 && !plan.always) {
            plan.nextSkips = Math.min(plan.nextSkips * 2 + 1, 1 << 12);
            plan.skips = plan.nextSkips;
        }
        if (came == LATE && !plan.always) plan.patience = Math.max(plan.patience / 2, LEAST);
        if (came == NEEDED || came == ALONE && !plan.always) {
            // The next execution begins elsewhere, whatever becomes of this one.
            if (c.retries == 0) plan.turn++;
            if (++c.retries < RETRIES) return;
        } else {
            plan.turn++;
        }
        settle(c);
    }

    /** This execution pauses no more. */
    private static void settle(UntornThread c) {
        c.isPending = false;
        c.hasPaused = true;
    }

    private static boolean isOver(UntornPlan plan) {
        if (plan.always) return false;
        return plan.met >= ENOUGH || plan.spent > PER_PLAN || COUNTER.spent > MOST;
    }

    private static void spend(UntornPlan plan, long time) {
        plan.spent += time;
        U.getAndAddLong(COUNTER, SPENT, time);
    }

    private static int awaitPartner(UntornPlan plan, long start, UntornThread c) {
        long arrived = 0;
        int alone = 0;
        for (int tries = 1; ; tries++) {
            nap(c);
            long now = System.nanoTime();
            UntornThread partner = plan.partner;
            if (partner != null) {
                if (arrived == 0) arrived = now;
                if (isThrough(plan, partner, now - arrived)) return MET;
                continue;
            }
            if (now - start > plan.patience || !UntornRuntime.on) return LATE;
            if (tries % LOOKS != 0) continue;
            Object needed = UntornNeeds.needed(c);
            if (needed == c) {
                alone = 0;
            } else if (needed != null) {
                c.neededLock = needed;
                return NEEDED;
            } else if (++alone == ALONE_LOOKS) {
                return ALONE;
            }
        }
    }

    /** Whether the partner has made its access and whatever else belongs to it. */
    private static boolean isThrough(UntornPlan plan, UntornThread partner, long since) {
        int region = plan.partnersRegion;
        if (since > AFTER) return true;
        Thread thread = partner.thread;
        if (thread == null) return true;
        if (region >= 0 && ((int) partner.open == 0 || partner.outermost != region)) return true;
        // One that the access itself blocks does not come back soon.
        return since > AFTER_LOOK && !UntornNeeds.isRunnable(thread);
    }

    /** A thread that may be a partner comes to its access, and nobody pauses. */
    @DontInline
    private static void awaitPauser(UntornPlan plan, Object o, int location, int flags, UntornThread c) {
        // A thread in the region is no partner but by chance; one that has arrived goes on, and so does one that would hold a
        // thread up which pauses elsewhere.
        if (c.steeredBy == plan || plan.partner == c || plan.pauser != null || isOver(plan)) return;
        if (plan.partnersSkips > 0) {
            plan.partnersSkips--;
            return;
        }
        UntornThread.probe();
        long start = System.nanoTime();
        boolean joined = false;
        try {
            UntornNatives.steered(plan.number, 0, WAITED);
            int alone = 0;
            for (int tries = 1; !joined; tries++) {
                nap(c);
                joined = plan.pauser != null && arrive(o, location, flags, c);
                if (joined || System.nanoTime() - start > plan.partnersPatience || !UntornRuntime.on) break;
                if (tries % LOOKS != 0) continue;
                Object needed = UntornNeeds.needed(c);
                if (needed == c) {
                    alone = 0;
                } else if (needed != null || ++alone == ALONE_LOOKS) {
                    break;
                }
            }
        } finally {
            spend(plan, System.nanoTime() - start);
        }
        if (joined) {
            UntornNatives.steered(plan.number, 0, JOINED);
            plan.nextPartnersSkips = 0;
        } else if (!plan.always) {
            plan.partnersPatience = Math.max(plan.partnersPatience / 2, LEAST);
            plan.nextPartnersSkips = Math.min(plan.nextPartnersSkips * 2 + 1, 1 << 12);
            plan.partnersSkips = plan.nextPartnersSkips;
        }
    }

    /** A little sleep at a safe point; looked at by {@link UntornNeeds} of others. */
    private static void nap(UntornThread c) {
        c.poll();
        if (c.deferred != 0) UntornShadow.abandon(c);
        c.isHeldUp = true;
        try {
            UntornEpoch.backOff(NAP);
        } finally {
            c.isHeldUp = false;
        }
    }

}
