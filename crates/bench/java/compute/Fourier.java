package compute;

import java.util.concurrent.CyclicBarrier;

/** Fast Fourier transforms of complex numbers kept as objects: threads share each of the passes, a barrier in between. */
public final class Fourier {
    static final class Complex {
        private double re, im;

        Complex(double re, double im) {
            this.re = re;
            this.im = im;
        }

        double norm() {
            return re * re + im * im;
        }

        /** One butterfly with its partner. */
        void turn(Complex partner, double cos, double sin) {
            double x = partner.re * cos - partner.im * sin, y = partner.re * sin + partner.im * cos;
            partner.re = re - x;
            partner.im = im - y;
            re += x;
            im += y;
        }
    }

    private final Complex[] values;
    private final CyclicBarrier barrier;
    private final int threads;

    Fourier(int bits, int threads) {
        int n = 1 << bits;
        values = new Complex[n];
        for (int i = 0; i < n; i++) values[Integer.reverse(i) >>> 32 - bits] = new Complex(Math.sin(i * 0.1), i % 7 / 7.0);
        this.threads = threads;
        barrier = new CyclicBarrier(threads);
    }

    void transform(int index) throws Exception {
        int n = values.length;
        for (int half = 1; half < n; half *= 2) {
            int pairs = n / 2;
            for (int pair = pairs / threads * index; pair < (index + 1 == threads ? pairs : pairs / threads * (index + 1)); pair++) {
                int at = pair / half * 2 * half + pair % half;
                double angle = -Math.PI * (pair % half) / half;
                values[at].turn(values[at + half], Math.cos(angle), Math.sin(angle));
            }
            barrier.await();
        }
    }

    double power() {
        double power = 0;
        for (Complex value : values) power += value.norm();
        return power;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments);
        double sum = 0;
        for (int time = 0; time < Team.size(arguments) * threads; time++) {
            Fourier fourier = new Fourier(14, threads);
            Team.run(threads, index -> {
                fourier.transform(index);
                return 0;
            });
            sum += fourier.power();
        }
        Team.print(sum);
    }
}
