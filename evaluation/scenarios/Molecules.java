import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/**
 * Particles that attract each other, after moldyn.
 * torn: Energy.add, which reads the total under the lock and writes it under the lock once more
 * Forces are added under the lock of each particle; a barrier divides the phases.
 */
public class Molecules {
    static final int PARTICLES = 24;
    static final int WORKERS = 3;
    static final int STEPS = 8;

    public static void main(String[] arguments) throws Exception {
        Particle[] particles = new Particle[PARTICLES];
        for (int i = 0; i < PARTICLES; i++) {
            particles[i] = new Particle(i * 1.5);
        }
        Energy energy = new Energy();
        CyclicBarrier barrier = new CyclicBarrier(WORKERS);
        Thread[] workers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new Thread(new Simulation(particles, energy, barrier, i), "part-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("energy " + energy.total());
    }
}

final class Particle {
    private double place;
    private double speed;
    private double force;

    Particle(double place) {
        this.place = place;
    }

    synchronized double place() {
        return place;
    }

    synchronized void push(double by) {
        force += by;
    }

    synchronized double move() {
        speed += force * 0.01;
        place += speed * 0.01;
        force = 0;
        return speed * speed / 2;
    }
}

final class Energy {
    private double total;

    /** What another part adds between the two holds of the lock is lost. */
    void add(double kinetic) {
        double sum = total() + kinetic;
        set(sum);
    }

    synchronized double total() {
        return total;
    }

    private synchronized void set(double sum) {
        total = sum;
    }
}

final class Simulation implements Runnable {
    private final Particle[] particles;
    private final Energy energy;
    private final CyclicBarrier barrier;
    private final int part;

    Simulation(Particle[] particles, Energy energy, CyclicBarrier barrier, int part) {
        this.particles = particles;
        this.energy = energy;
        this.barrier = barrier;
        this.part = part;
    }

    @Override
    public void run() {
        try {
            for (int step = 0; step < Molecules.STEPS; step++) {
                attract();
                barrier.await();
                move();
                barrier.await();
            }
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Places do not change in this phase. */
    private void attract() {
        for (int i = part; i < particles.length; i += Molecules.WORKERS) {
            for (int j = i + 1; j < particles.length; j++) {
                double distance = particles[j].place() - particles[i].place();
                double force = 1 / (1 + distance * distance);
                particles[i].push(force);
                particles[j].push(-force);
            }
        }
    }

    private void move() {
        for (int i = part; i < particles.length; i += Molecules.WORKERS) {
            energy.add(particles[i].move());
        }
    }
}
