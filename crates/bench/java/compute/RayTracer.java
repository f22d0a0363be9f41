package compute;

import java.util.ArrayList;
import java.util.List;

/** A ray tracer: threads take rows of a picture, read one shared scene, and add up a checksum under a lock. */
public final class RayTracer {
    static final class Vector {
        final double x, y, z;

        Vector(double x, double y, double z) {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        Vector plus(Vector other) {
            return new Vector(x + other.x, y + other.y, z + other.z);
        }

        Vector minus(Vector other) {
            return new Vector(x - other.x, y - other.y, z - other.z);
        }

        Vector times(double factor) {
            return new Vector(x * factor, y * factor, z * factor);
        }

        double dot(Vector other) {
            return x * other.x + y * other.y + z * other.z;
        }

        Vector unit() {
            return times(1 / Math.sqrt(dot(this)));
        }
    }

    static final class Ray {
        Vector origin, direction;

        Ray(Vector origin, Vector direction) {
            this.origin = origin;
            this.direction = direction;
        }

        Vector at(double distance) {
            return origin.plus(direction.times(distance));
        }
    }

    static class Surface {
        double shine, mirror;
        Vector colour;

        Surface(double shine, double mirror, Vector colour) {
            this.shine = shine;
            this.mirror = mirror;
            this.colour = colour;
        }
    }

    static final class Sphere {
        Vector centre;
        double radius;
        Surface surface;

        Sphere(Vector centre, double radius, Surface surface) {
            this.centre = centre;
            this.radius = radius;
            this.surface = surface;
        }

        double hit(Ray ray) {
            Vector to = centre.minus(ray.origin);
            double along = to.dot(ray.direction);
            double rest = radius * radius - to.dot(to) + along * along;
            if (rest < 0) return -1;
            double root = Math.sqrt(rest);
            return along - root > 1e-6 ? along - root : along + root > 1e-6 ? along + root : -1;
        }

        Vector normal(Vector point) {
            return point.minus(centre).unit();
        }
    }

    static final class Scene {
        private final List<Sphere> spheres = new ArrayList<>();
        private Vector light = new Vector(10, 20, -10);
        private int depth = 3;

        void add(Sphere sphere) {
            spheres.add(sphere);
        }

        Sphere nearest(Ray ray, double[] distance) {
            Sphere nearest = null;
            distance[0] = Double.MAX_VALUE;
            for (int i = 0; i < spheres.size(); i++) {
                Sphere sphere = spheres.get(i);
                double there = sphere.hit(ray);
                if (there > 0 && there < distance[0]) {
                    distance[0] = there;
                    nearest = sphere;
                }
            }
            return nearest;
        }

        Vector trace(Ray ray, int level) {
            double[] distance = new double[1];
            Sphere sphere = nearest(ray, distance);
            if (sphere == null) return new Vector(0.1, 0.1, 0.2);
            Vector point = ray.at(distance[0]);
            Vector normal = sphere.normal(point);
            Vector toLight = light.minus(point).unit();
            double shade = Math.max(0, normal.dot(toLight));
            if (nearest(new Ray(point, toLight), distance) != null) shade *= 0.3;
            Vector colour = sphere.surface.colour.times(shade + sphere.surface.shine * shade * shade);
            if (level < depth && sphere.surface.mirror > 0) {
                Vector back = ray.direction.minus(normal.times(2 * ray.direction.dot(normal)));
                colour = colour.plus(trace(new Ray(point, back.unit()), level + 1).times(sphere.surface.mirror));
            }
            return colour;
        }
    }

    private final Scene scene = new Scene();
    private final int width = 48;
    private long checksum;

    RayTracer() {
        for (int i = 0; i < 27; i++) {
            Vector centre = new Vector(i % 3 * 3 - 3, i / 3 % 3 * 3 - 3, i / 9 * 3 + 4);
            scene.add(new Sphere(centre, 1.2, new Surface(0.5, i % 2 * 0.4, new Vector(0.9, i % 5 / 5.0, i % 7 / 7.0))));
        }
    }

    synchronized void add(long part) {
        checksum += part;
    }

    synchronized long checksum() {
        return checksum;
    }

    void row(int row) {
        long sum = 0;
        for (int column = 0; column < width; column++) {
            Vector to = new Vector((column - width / 2.0) / width, (row % width - width / 2.0) / width, 1).unit();
            Vector colour = scene.trace(new Ray(new Vector(0, 0, -6), to), 0);
            sum += (long) (255 * colour.x) + (long) (255 * colour.y) + (long) (255 * colour.z);
        }
        add(sum);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments), rows = Team.size(arguments) * threads;
        RayTracer tracer = new RayTracer();
        Team.run(threads, index -> {
            for (int row = index; row < rows; row += threads) tracer.row(row);
            return 0;
        });
        System.out.println(tracer.checksum());
    }
}
