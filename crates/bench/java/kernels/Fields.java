package kernels;

/** Field-heavy: bodies that attract each other; every step reads and writes fields, hardly anything else. */
public final class Fields {
    static final class Body {
        double x, y, z, vx, vy, vz, mass;

        Body(int i) {
            x = i;
            y = i * i % 7;
            z = i * 3 % 5;
            mass = 1 + i % 3;
        }

        void pull(Body other, double time) {
            double dx = x - other.x, dy = y - other.y, dz = z - other.z;
            double square = dx * dx + dy * dy + dz * dz + 0.01;
            double force = time / (square * Math.sqrt(square));
            vx -= dx * other.mass * force;
            vy -= dy * other.mass * force;
            vz -= dz * other.mass * force;
            other.vx += dx * mass * force;
            other.vy += dy * mass * force;
            other.vz += dz * mass * force;
        }

        void move(double time) {
            x += time * vx;
            y += time * vy;
            z += time * vz;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int steps = Team.size(arguments);
        Team.run(arguments, index -> {
            Body[] bodies = new Body[8];
            for (int i = 0; i < bodies.length; i++) {
                bodies[i] = new Body(i + index);
            }
            for (int step = 0; step < steps; step++) {
                step(bodies, 0.001);
            }
            return Double.doubleToLongBits(bodies[0].x);
        });
    }

    static void step(Body[] bodies, double time) {
        for (int i = 0; i < bodies.length; i++) {
            for (int k = i + 1; k < bodies.length; k++) {
                bodies[i].pull(bodies[k], time);
            }
        }
        for (Body body : bodies) {
            body.move(time);
        }
    }
}
