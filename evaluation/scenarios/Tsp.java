import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A branch-and-bound search for the shortest round trip, after tsp.
 * torn: Best.improve, which compares with the shortest length without the lock that setting it holds
 * The queue of partial trips is taken from and added to in one hold of its lock each.
 */
public class Tsp {
    static final int CITIES = 9;
    static final int WORKERS = 3;

    public static void main(String[] arguments) throws Exception {
        Best best = new Best();
        Trips trips = new Trips();
        trips.add(new Trip(1, 0, 0));
        Thread[] workers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new Thread(new Searcher(trips, best), "searcher-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("shortest " + best.length());
    }

    static int distance(int from, int to) {
        return 1 + (from * 31 + to * 17 + from * to * 7) % 23;
    }
}

/** A trip that has begun: the cities it has seen as bits, where it is, and how long it is. */
record Trip(int seen, int at, int length) {
    boolean isComplete() {
        return seen == (1 << Tsp.CITIES) - 1;
    }

    Trip to(int city) {
        return new Trip(seen | 1 << city, city, length + Tsp.distance(at, city));
    }
}

final class Best {
    private int length = Integer.MAX_VALUE;

    /** Two searchers that found better trips may set the longer one last. */
    void improve(int found) {
        if (found < length()) {
            set(found);
        }
    }

    synchronized int length() {
        return length;
    }

    private synchronized void set(int found) {
        length = found;
    }
}

/** The trips to go on with, and how many are being looked at. */
final class Trips {
    private final Deque<Trip> open = new ArrayDeque<>();
    private int looking;

    synchronized void add(Trip trip) {
        open.addLast(trip);
    }

    /** The next trip; none once all are looked at. */
    synchronized Trip next() throws InterruptedException {
        while (open.isEmpty() && looking > 0) {
            wait();
        }
        if (open.isEmpty()) {
            return null;
        }
        looking++;
        return open.removeLast();
    }

    synchronized void done() {
        looking--;
        notifyAll();
    }
}

final class Searcher implements Runnable {
    private final Trips trips;
    private final Best best;

    Searcher(Trips trips, Best best) {
        this.trips = trips;
        this.best = best;
    }

    @Override
    public void run() {
        try {
            for (Trip trip = trips.next(); trip != null; trip = trips.next()) {
                if (Integer.bitCount(trip.seen()) < 4) {
                    divide(trip);
                } else {
                    search(trip);
                }
                trips.done();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void divide(Trip trip) {
        for (int city = 1; city < Tsp.CITIES; city++) {
            if ((trip.seen() & 1 << city) == 0) {
                trips.add(trip.to(city));
            }
        }
    }

    private void search(Trip trip) {
        if (trip.isComplete()) {
            best.improve(trip.length() + Tsp.distance(trip.at(), 0));
            return;
        }
        for (int city = 1; city < Tsp.CITIES; city++) {
            if ((trip.seen() & 1 << city) == 0) {
                search(trip.to(city));
            }
        }
    }
}
