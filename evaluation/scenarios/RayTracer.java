/**
 * Lines of a picture, traced by several threads, after raytracer.
 * torn: Renderer.line, whose checksum is added up under the lock of the thread's own renderer
 * The scene is never changed.
 */
public class RayTracer {
    static final int HEIGHT = 2400;
    static final int WIDTH = 40;
    static final int WORKERS = 3;
    static long checksum;

    public static void main(String[] arguments) throws Exception {
        Scene scene = new Scene(20, 12, 9);
        Thread[] workers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            Renderer renderer = new Renderer(scene, i);
            workers[i] = new Thread(renderer, "renderer-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("checksum " + checksum);
    }
}

record Scene(double x, double y, double radius) {
    int shade(int column, int row) {
        double dx = column - x;
        double dy = row * 0.1 - y;
        double inside = radius * radius - dx * dx - dy * dy;
        return inside > 0 ? (int) (255 * Math.sqrt(inside) / radius) : 0;
    }
}

final class Renderer implements Runnable {
    private final Scene scene;
    private final int part;

    Renderer(Scene scene, int part) {
        this.scene = scene;
        this.part = part;
    }

    @Override
    public void run() {
        for (int row = part; row < RayTracer.HEIGHT; row += RayTracer.WORKERS) {
            line(row);
        }
    }

    /** Every renderer holds another lock, so sums of others are lost. */
    private synchronized void line(int row) {
        for (int column = 0; column < RayTracer.WIDTH; column++) {
            RayTracer.checksum += scene.shade(column, row);
        }
    }
}
