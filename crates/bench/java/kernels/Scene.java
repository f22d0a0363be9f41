package kernels;

/** Read-shared: threads that look at the same few objects again and again, each in one long region, and write to their own. */
public final class Scene {
    static final class Ball {
        double x, y, z, radius;

        Ball(int i) {
            x = i * 7 % 11 - 5;
            y = i * 5 % 13 - 6;
            z = 10 + i * 3 % 17;
            radius = 1 + i % 3;
        }

        /** How far along the ray the ball is hit, or more than anything. */
        double hit(double dx, double dy, double dz) {
            double along = x * dx + y * dy + z * dz;
            double off = x * x + y * y + z * z - along * along;
            double in = radius * radius - off;
            return in < 0 ? Double.MAX_VALUE : along - Math.sqrt(in);
        }
    }

    final Ball[] balls = new Ball[32];
    int width = 64;

    Scene() {
        for (int i = 0; i < balls.length; i++) balls[i] = new Ball(i);
    }

    public static void main(String[] arguments) throws InterruptedException {
        Scene scene = new Scene();
        int frames = Team.size(arguments);
        Team.run(arguments, index -> scene.render(frames));
    }

    synchronized int height() {
        return width;
    }

    public long render(int frames) {
        long seen = 0;
        for (int frame = 0; frame < frames; frame++) {
            for (int column = 0; column < width; column++) {
                double dx = (column - width / 2.0) / width, dy = frame % 7 / 7.0;
                double length = Math.sqrt(dx * dx + dy * dy + 1), nearest = Double.MAX_VALUE;
                for (Ball ball : balls) {
                    nearest = Math.min(nearest, ball.hit(dx / length, dy / length, 1 / length));
                }
                if (nearest < Double.MAX_VALUE) seen++;
            }
        }
        return seen;
    }
}
