package compute;

import java.util.ArrayDeque;

/** A travelling salesman's tour by branch and bound: threads take prefixes from a shared queue and prune by the best tour so far, read without a lock and written under one. */
public final class BranchAndBound {
    static final class Tour {
        final int[] cities;
        int length;
        int cost;

        Tour(int cities) {
            this.cities = new int[cities];
        }

        Tour(Tour prefix, int city, int cost) {
            cities = prefix.cities.clone();
            length = prefix.length + 1;
            cities[prefix.length] = city;
            this.cost = cost;
        }

        boolean visits(int city) {
            for (int i = 0; i < length; i++) if (cities[i] == city) return true;
            return false;
        }

        int last() {
            return cities[length - 1];
        }
    }

    private final int[][] distances;
    private final int[] cheapest;
    private final ArrayDeque<Tour> queue = new ArrayDeque<>();
    private final Object lock = new Object();
    private volatile int best = Integer.MAX_VALUE;
    private int improved;

    BranchAndBound(int cities, int seed) {
        distances = new int[cities][cities];
        cheapest = new int[cities];
        for (int i = 0; i < cities; i++) {
            cheapest[i] = Integer.MAX_VALUE;
            for (int j = 0; j < cities; j++) {
                int dx = (i + seed) * 37 % 101 - (j + seed) * 37 % 101, dy = i * 59 % 103 - j * 59 % 103;
                distances[i][j] = (int) Math.sqrt(100 * (dx * dx + dy * dy));
                if (i != j) cheapest[i] = Math.min(cheapest[i], distances[i][j]);
            }
        }
        Tour start = new Tour(new Tour(cities), 0, 0);
        for (int second = 1; second < cities; second++) {
            Tour tour = new Tour(start, second, distances[0][second]);
            for (int third = 1; third < cities; third++) {
                if (third != second) queue.add(new Tour(tour, third, tour.cost + distances[second][third]));
            }
        }
    }

    private Tour take() {
        synchronized (lock) {
            return queue.poll();
        }
    }

    private int bound(Tour tour) {
        int bound = tour.cost;
        for (int city = 0; city < cheapest.length; city++) if (!tour.visits(city)) bound += cheapest[city];
        return bound;
    }

    private void offer(int cost) {
        if (cost < best) {
            synchronized (lock) {
                if (cost < best) {
                    best = cost;
                    improved++;
                }
            }
        }
    }

    private void extend(Tour tour) {
        if (tour.length == cheapest.length) {
            offer(tour.cost + distances[tour.last()][0]);
            return;
        }
        if (bound(tour) >= best) return;
        for (int city = 1; city < cheapest.length; city++) {
            if (!tour.visits(city)) extend(new Tour(tour, city, tour.cost + distances[tour.last()][city]));
        }
    }

    void search() {
        for (Tour tour = take(); tour != null; tour = take()) extend(tour);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments), sum = 0;
        for (int time = 0; time < Team.size(arguments) * threads; time++) {
            BranchAndBound search = new BranchAndBound(10, time);
            Team.run(threads, index -> {
                search.search();
                return 0;
            });
            sum += search.best;
        }
        System.out.println(sum);
    }
}
