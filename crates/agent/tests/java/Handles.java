import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** Regions in whose middle another thread makes one change; those whose classes begin with Torn are torn by it, and no others. */
public class Handles {
    abstract static class Case {
        abstract void region();

        abstract void change();
    }

    /** The other thread makes its change now. */
    static void between() {
        Stage.done();
        Stage.at(2);
    }

    static VarHandle handle(Class<?> k, String name, Class<?> type) {
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(k, MethodHandles.lookup());
            return lookup.findVarHandle(k, name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static class Count extends Case {
        volatile int n;
        static final AtomicIntegerFieldUpdater<Count> U = AtomicIntegerFieldUpdater.newUpdater(Count.class, "n");
        static final VarHandle N = handle(Count.class, "n", int.class);

        void region() {}

        void change() {}
    }

    static class TornReadThenUpdater extends Count {
        void region() {
            int now = n;
            between();
            U.compareAndSet(this, now, now + 1);
        }

        void change() {
            U.set(this, 7);
        }
    }

    static class TornMaximum extends Count {
        void region() {
            int now;
            boolean first = true;
            while ((now = n) < 5) {
                if (first) between();
                first = false;
                U.compareAndSet(this, now, 5);
            }
        }

        void change() {
            U.compareAndSet(this, 0, 3);
        }
    }

    static class TornUpdaterThenWrite extends Count {
        void region() {
            int now = U.get(this);
            between();
            n = now + 1;
        }

        void change() {
            n = 7;
        }
    }

    static class TornUpdated extends Count {
        void region() {
            int now = n;
            between();
            U.updateAndGet(this, x -> x + now);
        }

        void change() {
            n = 7;
        }
    }

    static class TornByUpdated extends Count {
        void region() {
            int now = n;
            between();
            n = now + 1;
        }

        void change() {
            U.getAndAccumulate(this, 4, Integer::sum);
        }
    }

    static class TornHandle extends Count {
        void region() {
            int now = (int) N.getVolatile(this);
            between();
            N.setVolatile(this, now + 1);
        }

        void change() {
            n++;
        }
    }

    static class TornByHandle extends Count {
        void region() {
            int now = n;
            between();
            n = now + 1;
        }

        void change() {
            int before = (int) N.getAndAdd(this, 3);
        }
    }

    static class TornUpdaterByHandle extends Count {
        void region() {
            int now = U.get(this);
            between();
            U.set(this, now + 1);
        }

        void change() {
            N.setRelease(this, 4);
        }
    }

    static class TornInherited extends Count {
        static final VarHandle OWN = handle(TornInherited.class, "n", int.class);

        void region() {
            int now = n;
            between();
            n = now + 1;
        }

        void change() {
            OWN.setOpaque(this, 3);
        }
    }

    static class TornLong extends Case {
        volatile long n;
        static final AtomicLongFieldUpdater<TornLong> U = AtomicLongFieldUpdater.newUpdater(TornLong.class, "n");

        void region() {
            long now = n;
            between();
            U.compareAndSet(this, now, now + 1);
        }

        void change() {
            U.getAndIncrement(this);
        }
    }

    static class TornReference extends Case {
        volatile String s = "";
        static final AtomicReferenceFieldUpdater<TornReference, String> U =
            AtomicReferenceFieldUpdater.newUpdater(TornReference.class, String.class, "s");

        void region() {
            String now = s;
            between();
            s = now + ".";
        }

        void change() {
            U.getAndSet(this, "x");
        }
    }

    static class TornStatic extends Case {
        static int n;
        static long other;
        static final VarHandle N;
        static {
            try {
                N = MethodHandles.lookup().findStaticVarHandle(TornStatic.class, "n", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        void region() {
            int now = (int) N.getAcquire();
            between();
            n = now + 1;
        }

        void change() {
            n = 4;
        }
    }

    static class TornByStatic extends TornStatic {
        void region() {
            int now = n;
            between();
            n = now + 1;
        }

        void change() {
            N.compareAndSet(n, 9);
        }
    }

    static class Cells extends Case {
        final int[] cells = new int[3];
        static final VarHandle C = MethodHandles.arrayElementVarHandle(int[].class);

        void region() {}

        void change() {}
    }

    static class TornElement extends Cells {
        void region() {
            int now = cells[1];
            between();
            cells[1] = now + 1;
        }

        void change() {
            C.setVolatile(cells, 1, 7);
        }
    }

    static class WholeElement extends Cells {
        void region() {
            int now = cells[1];
            between();
            cells[1] = now + 1;
        }

        void change() {
            C.setVolatile(cells, 2, 7);
        }
    }

    static class WholeOtherField extends Count {
        volatile int other;
        static final VarHandle OTHER = handle(WholeOtherField.class, "other", int.class);

        void region() {
            int now = n;
            between();
            U.set(this, now + 1);
        }

        void change() {
            OTHER.setVolatile(this, 7);
            int some = other;
        }
    }

    static class WholeOtherObject extends Count {
        final WholeOtherField another = new WholeOtherField();

        void region() {
            int now = n;
            between();
            U.set(this, now + 1);
        }

        void change() {
            U.incrementAndGet(another);
            N.setVolatile(another, 7);
        }
    }

    static class WholeFailed extends Count {
        void region() {
            int now = n;
            between();
            now += n;
        }

        void change() {
            U.compareAndSet(this, 99, 7);
        }
    }

    static class WholeFailedHandle extends Count {
        void region() {
            int now = (int) N.getVolatile(this);
            between();
            now += n;
        }

        void change() {
            N.weakCompareAndSet(this, 99, 7);
        }
    }

    static class WholeFailedAtomic extends Case {
        final AtomicInteger n = new AtomicInteger();

        void region() {
            int now = n.get();
            between();
            now += n.get();
        }

        void change() {
            n.compareAndSet(99, 7);
        }
    }

    static class WholeExchanged extends WholeFailedAtomic {
        void change() {
            n.compareAndExchange(99, 7);
        }
    }

    static class WholeKnownKey extends Case {
        final Map<String, Integer> map = new HashMap<>(Map.of("a", 1));

        void region() {
            int now = map.get("a");
            between();
            now += map.get("a");
        }

        void change() {
            map.putIfAbsent("a", 2);
        }
    }

    static class WholeUnknownKey extends WholeKnownKey {
        void region() {
            boolean known = map.containsKey("z");
            between();
            known |= map.containsKey("z");
        }

        void change() {
            map.remove("z");
        }
    }

    static class WholeHeld extends Case {
        final Set<String> set = new HashSet<>(Set.of("a"));

        void region() {
            boolean held = set.contains("a");
            between();
            held |= set.contains("a");
        }

        void change() {
            set.add("a");
        }
    }

    /** Each object is of the thread that made it first, and so is its first use by the region. */
    static void play(Case made, boolean used) throws InterruptedException {
        if (used) made.change();
        Stage.play(new Object[] { made }, Handles::first, Handles::second);
    }

    static void first() {
        Stage.at(0);
        ((Case) Stage.get(0)).region();
        Stage.done();
    }

    static void second() {
        Stage.at(1);
        ((Case) Stage.get(0)).change();
        Stage.done();
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (Case made : new Case[] {
            new TornReadThenUpdater(), new TornMaximum(), new TornUpdaterThenWrite(), new TornUpdated(),
            new TornByUpdated(), new TornHandle(), new TornByHandle(), new TornUpdaterByHandle(), new TornInherited(),
            new TornLong(), new TornReference(), new TornStatic(), new TornByStatic(), new TornElement(),
            new WholeElement(), new WholeOtherField(), new WholeOtherObject(), new WholeFailed(),
            new WholeFailedHandle(), new WholeFailedAtomic(), new WholeExchanged(), new WholeKnownKey(),
            new WholeUnknownKey(), new WholeHeld(),
        }) {
            play(made, false);
        }
    }
}
