import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/** Every library call that the model knows, in one thread where that is possible, so that it prints the same each time. */
public class Library {
    volatile int state;
    long[] cells = new long[3];
    static final VarHandle STATE, CELLS, SHARED;
    static volatile Object shared = "s";
    static final AtomicIntegerFieldUpdater<Library> UPDATER =
        AtomicIntegerFieldUpdater.newUpdater(Library.class, "state");

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Library.class, "state", int.class);
            SHARED = MethodHandles.lookup().findStaticVarHandle(Library.class, "shared", Object.class);
            CELLS = MethodHandles.arrayElementVarHandle(long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    record Key(String name) {
        @Override public int hashCode() { if (name == null) throw new IllegalStateException("hash"); return 1; }
    }

    static class Own extends HashMap<String, Integer> {
        int puts;
        @Override public Integer put(String key, Integer value) { puts++; return super.put(key, value); }
    }

    static String thrown(Callable<Object> work) {
        try {
            return "value " + work.call();
        } catch (Throwable t) {
            return t.getClass().getSimpleName() + ": " + t.getMessage();
        }
    }

    String locks() throws Exception {
        StringBuilder out = new StringBuilder();
        Lock lock = new ReentrantLock();
        ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        StampedLock stamped = new StampedLock();
        lock.lock();
        try {
            out.append(lock.tryLock()).append(lock.tryLock(1, TimeUnit.SECONDS));
            lock.unlock();
            lock.unlock();
            Condition ready = lock.newCondition();
            out.append(ready.awaitNanos(1) <= 0).append(ready.await(1, TimeUnit.MICROSECONDS));
            ready.signalAll();
        } finally {
            lock.unlock();
        }
        both.readLock().lock();
        out.append(both.readLock().tryLock()).append(both.writeLock().tryLock());
        both.readLock().unlock();
        both.readLock().unlock();
        both.writeLock().lockInterruptibly();
        out.append(both.isWriteLockedByCurrentThread());
        both.writeLock().unlock();
        long stamp = stamped.writeLock();
        out.append(stamped.tryReadLock() == 0);
        stamped.unlockWrite(stamp);
        out.append(stamped.tryReadLock() != 0);
        out.append(thrown(() -> { lock.unlock(); return 1; }));
        Thread.currentThread().interrupt();
        out.append(thrown(() -> { lock.lockInterruptibly(); return 1; }));
        return out.toString();
    }

    String signals() throws Exception {
        StringBuilder out = new StringBuilder();
        CountDownLatch latch = new CountDownLatch(2);
        Semaphore permits = new Semaphore(1);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        CyclicBarrier barrier = new CyclicBarrier(2);
        Future<Integer> sum = pool.submit(() -> { latch.countDown(); queue.put("from task"); return 42; });
        pool.execute(() -> { latch.countDown(); state++; thrown(() -> barrier.await()); });
        latch.await();
        out.append(latch.await(1, TimeUnit.SECONDS)).append(sum.get()).append(queue.take()).append(queue.poll());
        barrier.await();
        permits.acquire();
        out.append(permits.tryAcquire());
        permits.release();
        CompletableFuture<String> future = new CompletableFuture<>();
        pool.submit(() -> future.complete("done"));
        out.append(future.join()).append(future.thenApply(String::length).get()).append(future.isDone());
        out.append(CompletableFuture.supplyAsync(() -> "async", pool).get(5, TimeUnit.SECONDS));
        out.append(thrown(() -> pool.submit(() -> { throw new IllegalStateException("in task"); }).get()));
        out.append(new ForkJoinPool(2).invoke(new RecursiveTask<Integer>() {
            @Override protected Integer compute() { return 7; }
        }));
        pool.shutdown();
        return out.append(pool.awaitTermination(5, TimeUnit.SECONDS)).toString();
    }

    String atomics() {
        AtomicInteger a = new AtomicInteger(3);
        AtomicLong l = new AtomicLong(4);
        AtomicReference<String> r = new AtomicReference<>("r");
        AtomicIntegerArray array = new AtomicIntegerArray(3);
        AtomicReferenceArray<String> texts = new AtomicReferenceArray<>(2);
        LongAdder adder = new LongAdder();
        adder.add(5);
        texts.set(1, "t");
        String out = a.getAndIncrement() + a.incrementAndGet() + " " + a.compareAndSet(5, 9) + a.get() + a.updateAndGet(x -> x * 2)
            + l.addAndGet(1L << 40) + l.getAndSet(2) + r.getAndSet("q") + r.get() + array.addAndGet(1, 6) + array.get(1)
            + texts.get(1) + texts.compareAndSet(0, null, "n") + adder.sum();
        out += " " + (int) STATE.getAndAdd(this, 5) + (int) STATE.get(this) + STATE.compareAndSet(this, 0, 1)
            + (long) CELLS.getAndAdd(cells, 1, 7L) + (long) CELLS.getVolatile(cells, 1) + SHARED.get() + UPDATER.incrementAndGet(this);
        SHARED.set("t");
        STATE.setVolatile(this, 4);
        out += state + " " + shared + thrown(() -> array.get(3)) + thrown(() -> CELLS.get(cells, 9))
            + thrown(() -> UPDATER.get(null)) + thrown(() -> a.updateAndGet(x -> x / 0));
        return out;
    }

    String collections() {
        Map<Object, Object> map = new HashMap<>();
        ConcurrentHashMap<String, Integer> concurrent = new ConcurrentHashMap<>();
        List<String> list = new ArrayList<>(List.of("a", "b"));
        ArrayDeque<String> deque = new ArrayDeque<>();
        Vector<String> vector = new Vector<>();
        Set<Long> set = new TreeSet<>();
        map.put("x", 1);
        map.put(new Key("k"), 2);
        map.computeIfAbsent(3, key -> map.get("x") + "!");
        concurrent.merge("m", 1, Integer::sum);
        concurrent.merge("m", 1, Integer::sum);
        concurrent.computeIfAbsent("n", String::length);
        list.add(1, "c");
        deque.push("d");
        vector.add("v");
        set.add(4L);
        Own own = new Own();
        own.put("o", 1);
        StringBuilder out = new StringBuilder();
        out.append(map.get("x")).append(map.get(new Key("k"))).append(map.get(3)).append(map.size()).append(concurrent.get("m"))
            .append(concurrent.remove("n")).append(list.get(1)).append(list.remove("c")).append(list.remove(0)).append(list.size())
            .append(deque.pop()).append(vector.get(0)).append(set.contains(4L)).append(own.puts).append(own.get("o"));
        out.append(thrown(() -> map.get(new Key(null)))).append(thrown(() -> concurrent.put(null, 1)))
            .append(thrown(() -> list.get(5))).append(thrown(() -> ((Map<?, ?>) null).get(1)))
            .append(thrown(() -> set.add(null)));
        for (Object value : map.values()) out.append(value);
        concurrent.forEach((k, v) -> out.append(k).append(v));
        return out.toString();
    }

    public static void main(String[] args) throws Exception {
        Library library = new Library();
        for (int round = 0; round < 3; round++) {
            System.out.println(library.locks());
            System.out.println(library.signals());
            System.out.println(library.atomics());
            System.out.println(library.collections());
        }
    }
}
