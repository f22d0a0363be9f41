import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A crawler that fetches pages in a pool of threads, after hedc.
 * torn: Visited.enter, which asks a concurrent map whether a page is known and puts it there in a second step
 * torn: Tally.count, which adds to a total that is read and written without a lock
 * torn: Frontier.add, which counts a page and queues it in two steps; that does no harm, since the count is only ever too high
 * Taking a page, and asking whether all is done, are single steps.
 */
public class Crawler {
    static final int PAGES = 400;

    public static void main(String[] arguments) throws Exception {
        Visited visited = new Visited();
        Tally tally = new Tally();
        ExecutorService pool = Executors.newFixedThreadPool(3);
        Frontier frontier = new Frontier();
        frontier.add(0);
        for (int i = 0; i < 3; i++) {
            pool.execute(new Fetcher(frontier, visited, tally));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println(visited.size() + " pages, " + tally.bytes + " bytes");
    }
}

final class Visited {
    private final Map<Integer, Boolean> pages = new ConcurrentHashMap<>();

    /** Two fetchers may both enter a page, and fetch it twice. */
    boolean enter(int page) {
        if (pages.containsKey(page)) {
            return false;
        }
        pages.put(page, true);
        return true;
    }

    int size() {
        return pages.size();
    }
}

final class Tally {
    long bytes;

    void count(int fetched) {
        bytes += fetched;
    }
}

final class Frontier {
    private final Queue<Integer> pages = new ConcurrentLinkedQueue<>();
    private final AtomicInteger open = new AtomicInteger();

    void add(int page) {
        open.incrementAndGet();
        pages.add(page);
    }

    Integer next() {
        return pages.poll();
    }

    void done() {
        open.decrementAndGet();
    }

    boolean isOver() {
        return open.get() == 0;
    }
}

final class Fetcher implements Runnable {
    private final Frontier frontier;
    private final Visited visited;
    private final Tally tally;

    Fetcher(Frontier frontier, Visited visited, Tally tally) {
        this.frontier = frontier;
        this.visited = visited;
        this.tally = tally;
    }

    @Override
    public void run() {
        while (!frontier.isOver()) {
            Integer page = frontier.next();
            if (page == null) {
                Thread.yield();
                continue;
            }
            if (visited.enter(page)) {
                tally.count(page % 97);
                for (int link : links(page)) {
                    frontier.add(link);
                }
            }
            frontier.done();
        }
    }

    private static List<Integer> links(int page) {
        int next = (page + 1) % Crawler.PAGES;
        // Pages link to others more than once.
        return List.of(next, next, (page * 3 + 1) % Crawler.PAGES, next);
    }
}
