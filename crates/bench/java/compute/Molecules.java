package compute;

import java.util.concurrent.CyclicBarrier;

/** Molecular dynamics: each step, threads add up the forces on all particles in sums of their own, and move their share. */
public final class Molecules {
    static final class Particle {
        double x, y, z, vx, vy, vz, fx, fy, fz;

        Particle(int i) {
            x = i % 8 + 0.01 * (i % 3);
            y = i / 8 % 8 + 0.01 * (i % 5);
            z = i / 64 + 0.01 * (i % 7);
        }

        void move(double step) {
            vx += fx * step;
            vy += fy * step;
            vz += fz * step;
            x += vx * step;
            y += vy * step;
            z += vz * step;
        }

        double energy() {
            return 0.5 * (vx * vx + vy * vy + vz * vz);
        }
    }

    private final Particle[] particles = new Particle[256];
    /** Forces by thread, axis and particle. */
    private final double[][][] forces;
    private final CyclicBarrier barrier;
    private final Object total = new Object();
    private double potential;

    Molecules(int threads) {
        for (int i = 0; i < particles.length; i++) particles[i] = new Particle(i);
        forces = new double[threads][3][particles.length];
        barrier = new CyclicBarrier(threads);
    }

    private double force(int index, int i) {
        Particle one = particles[i];
        double[][] own = forces[index];
        double energy = 0;
        for (int j = i + 1; j < particles.length; j++) {
            Particle other = particles[j];
            double dx = one.x - other.x, dy = one.y - other.y, dz = one.z - other.z;
            double square = dx * dx + dy * dy + dz * dz;
            if (square < 6.25) {
                double inverse = 1 / square, six = inverse * inverse * inverse;
                double strength = 24 * six * (2 * six - 1) * inverse * 1e-4;
                energy += 4 * six * (six - 1);
                own[0][i] += strength * dx;
                own[1][i] += strength * dy;
                own[2][i] += strength * dz;
                own[0][j] -= strength * dx;
                own[1][j] -= strength * dy;
                own[2][j] -= strength * dz;
            }
        }
        return energy;
    }

    private void gather(int i) {
        Particle particle = particles[i];
        particle.fx = particle.fy = particle.fz = 0;
        for (double[][] own : forces) {
            particle.fx += own[0][i];
            particle.fy += own[1][i];
            particle.fz += own[2][i];
            own[0][i] = own[1][i] = own[2][i] = 0;
        }
        particle.move(1e-3);
    }

    void simulate(int index, int steps) throws Exception {
        for (int step = 0; step < steps; step++) {
            double energy = 0;
            for (int i = index; i < particles.length; i += forces.length) energy += force(index, i);
            synchronized (total) {
                potential += energy;
            }
            barrier.await();
            for (int i = index; i < particles.length; i += forces.length) gather(i);
            barrier.await();
        }
    }

    double energy() {
        double energy = potential * 1e-9;
        for (Particle particle : particles) energy += particle.energy();
        return energy;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments), steps = Team.size(arguments) * threads;
        Molecules molecules = new Molecules(threads);
        Team.run(threads, index -> {
            molecules.simulate(index, steps);
            return 0;
        });
        System.out.printf("%.3e%n", molecules.energy());
    }
}
