package kernels;

/** What a JVM costs that has nothing to do. */
public final class Hello {
    public static void main(String[] arguments) {
        System.out.println("hello");
    }
}
