import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Looks at itself in every way that a program has, and prints what it sees; nothing here depends on time or chance. */
public class Mirror {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {
        String value() default "plain";
    }

    interface Shape {
        double area();

        default String label() {
            return "shape of " + area();
        }
    }

    sealed interface Step permits Walk, Ride {}

    record Walk(int length, String to) implements Step, Serializable {
        Walk {
            if (length < 0) {
                throw new IllegalArgumentException("length " + length);
            }
        }

        static int walks;
    }

    record Ride(Walk first, double price) implements Step {}

    enum Colour {
        RED {
            @Override
            int code() {
                return ++seen;
            }
        },
        GREEN;

        int seen;

        synchronized int code() {
            return ordinal() + 10 * ++seen;
        }
    }

    /** Without a serialVersionUID, so that its members make it. */
    @Mark("kept")
    static class Kept implements Serializable {
        private int number = 7;
        protected transient int scratch = 8;
        volatile String text = "kept";
        static int count;
        final List<String> all = new ArrayList<>(List.of("a", "b"));

        static {
            count = 3;
        }

        synchronized int next() {
            return number++;
        }

        private void hidden() {}
    }

    static class Derived extends Kept {
        long more = 9;
        Colour colour = Colour.GREEN;

        @Override
        synchronized int next() {
            more++;
            return super.next();
        }
    }

    static class Node {
        Node next;
        int value;
        int[] cells;
        static Node shared;
        final Object lock = new Object();

        Node(Node next) {
            this.next = next;
        }

        Node next() {
            return next;
        }
    }

    static abstract class Generic<T extends Comparable<T>> {
        T held;

        abstract <E extends Exception> List<? super T> give(T value, List<? extends E> many) throws E;
    }

    public static void main(String[] arguments) throws Throwable {
        if (arguments.length > 0) {
            fail(arguments[0]);
            return;
        }
        members();
        handles();
        serialized();
        values();
        thrown();
        nulls();
        walked();
        threads();
        lambdas();
    }

    // ---- members ------------------------------------------------------------------------------------------------

    static void members() {
        Class<?>[] all = {Mirror.class, Mark.class, Shape.class, Step.class, Walk.class, Ride.class, Colour.class,
            Colour.RED.getClass(), Kept.class, Derived.class, Node.class, Generic.class, Thread.class};
        for (Class<?> one : all) {
            System.out.println("class " + one.toGenericString() + " " + Modifier.toString(one.getModifiers()) + " "
                + Integer.toHexString(one.getModifiers()) + " synthetic=" + one.isSynthetic());
            // The platform's own class differs between versions; its members are shown all the same.
            print("field", one.getDeclaredFields());
            print("method", one.getDeclaredMethods());
            print("constructor", one.getDeclaredConstructors());
            print("public field", one.getFields());
            if (one != Thread.class) {
                print("public method", one.getMethods());
            }
            print("annotation", one.getAnnotations());
            print("nest", one.getNestMembers());
            print("permitted", one.isSealed() ? one.getPermittedSubclasses() : new Object[0]);
            print("component", one.isRecord() ? one.getRecordComponents() : new Object[0]);
            print("constant", one.isEnum() ? one.getEnumConstants() : new Object[0]);
        }
        for (String hidden : new String[] {"$untorn", "$untornContext"}) {
            for (Class<?> one : new Class<?>[] {Kept.class, Node.class, Thread.class}) {
                try {
                    System.out.println("found " + one.getDeclaredField(hidden));
                } catch (NoSuchFieldException expected) {
                    System.out.println("no " + expected.getMessage().replace('$', ' ') + " in " + one);
                }
            }
        }
        Class<?> local = new Object() {
            int field;
        }.getClass();
        System.out.println(local.getEnclosingMethod() + " " + local.isAnonymousClass() + " "
            + Arrays.toString(local.getDeclaredFields()));
    }

    static void print(String what, Object[] all) {
        System.out.println("  " + what + " " + all.length);
        Arrays.stream(all).map(Mirror::full).sorted().forEach(one -> System.out.println("    " + one));
    }

    static String full(Object member) {
        if (member instanceof Executable executable) {
            return executable.toGenericString() + " " + Integer.toHexString(executable.getModifiers())
                + (executable.isSynthetic() ? " synthetic" : "") + (executable.isVarArgs() ? " varargs" : "")
                + Arrays.toString(executable.getParameters());
        }
        if (member instanceof Field field) {
            return field.toGenericString() + " " + Integer.toHexString(field.getModifiers())
                + (field.isSynthetic() ? " synthetic" : "");
        }
        return member.toString();
    }

    // ---- handles ------------------------------------------------------------------------------------------------

    static void handles() throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        Kept kept = new Kept();
        System.out.println(lookup + " " + lookup.lookupClass() + " " + lookup.lookupModes());
        MethodHandles.Lookup inside = MethodHandles.privateLookupIn(Kept.class, lookup);
        System.out.println((int) inside.findGetter(Kept.class, "number", int.class).invoke(kept));
        inside.findSetter(Kept.class, "number", int.class).invoke(kept, 40);
        System.out.println((int) inside.findVirtual(Kept.class, "next", MethodType.methodType(int.class)).invoke(kept));
        VarHandle text = inside.findVarHandle(Kept.class, "text", String.class);
        System.out.println(text + " " + text.compareAndSet(kept, "kept", "changed") + " " + text.getVolatile(kept));
        VarHandle count = inside.findStaticVarHandle(Kept.class, "count", int.class);
        System.out.println((int) count.getAndAdd(5) + " " + Kept.count);
        System.out.println(inside.unreflect(Kept.class.getDeclaredMethod("hidden")).type());
        System.out.println(inside.revealDirect(inside.findVirtual(Kept.class, "next", MethodType.methodType(int.class))));
        try {
            lookup.findVirtual(Kept.class, "absent", MethodType.methodType(void.class));
        } catch (NoSuchMethodException expected) {
            System.out.println(expected.getMessage());
        }
        Field number = Kept.class.getDeclaredField("number");
        number.setAccessible(true);
        number.setInt(kept, 77);
        System.out.println(kept.number + " " + number.getInt(kept));
    }

    // ---- serialization ------------------------------------------------------------------------------------------

    static void serialized() throws Exception {
        for (Class<?> one : new Class<?>[] {Kept.class, Derived.class, Walk.class, Colour.class, Supplied.class}) {
            ObjectStreamClass description = ObjectStreamClass.lookupAny(one);
            System.out.println(one + " " + description.getSerialVersionUID() + " "
                + Arrays.toString(description.getFields()));
        }
        Supplied supplied = () -> 42;
        for (Object one : new Object[] {new Derived(), new Walk(3, "home"), Colour.RED, supplied}) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
                out.writeObject(one);
            }
            System.out.println(HexFormat.of().formatHex(bytes.toByteArray()));
            try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
                Object read = in.readObject();
                if (read instanceof Derived derived) {
                    System.out.println(derived.next() + " " + derived.more + derived.text + derived.scratch + derived.all);
                } else if (read instanceof Supplied lambda) {
                    System.out.println(lambda.getAsInt());
                } else {
                    System.out.println(read + " " + read.equals(one));
                }
            }
        }
    }

    interface Supplied extends IntSupplier, Serializable {}

    // ---- values -------------------------------------------------------------------------------------------------

    static void values() {
        Ride ride = new Ride(new Walk(2, "bus"), 2.5);
        System.out.println(ride + " " + ride.hashCode() + " " + ride.equals(new Ride(new Walk(2, "bus"), 2.5)));
        EnumMap<Colour, Integer> codes = new EnumMap<>(Colour.class);
        for (Colour colour : Colour.values()) {
            codes.put(colour, colour.code() + colour.code());
        }
        System.out.println(codes + " " + Colour.valueOf("GREEN").getDeclaringClass());
        Shape shape = () -> 2;
        System.out.println(shape.label());
        Object proxy = Proxy.newProxyInstance(Mirror.class.getClassLoader(), new Class<?>[] {Shape.class},
            (self, method, args) -> method.getName().equals("area") ? 5.0 : method.getName());
        System.out.println(((Shape) proxy).area() + ((Shape) proxy).label());
        Step step = ride.first();
        String kind = step instanceof Walk walk && walk.length() > 5 ? "long" : "short";
        System.out.println(kind);
    }

    // ---- exceptions ---------------------------------------------------------------------------------------------

    static class Failing {
        static int made = Integer.parseInt("4");
        final int number;

        Failing(int number) {
            this.number = check(number);
        }

        static int check(int number) {
            if (number > 2) {
                throw new IllegalStateException("too many: " + number + " of " + made);
            }
            made++;
            return number;
        }

        synchronized int deep(int depth) {
            synchronized (Failing.class) {
                try {
                    return depth == 0 ? new Failing(made).number : deep(depth - 1);
                } finally {
                    made--;
                }
            }
        }
    }

    static class Uninitialized {
        static final int VALUE = fail();

        static int fail() {
            throw new UnsupportedOperationException("initializer");
        }
    }

    static void thrown() throws Exception {
        trace(() -> new Failing(1).deep(3));
        trace(() -> Uninitialized.VALUE);
        trace(() -> Uninitialized.VALUE);
        trace(() -> new Walk(-1, "back"));
        trace(() -> {
            Object wrong = "text";
            return ((Node) wrong).next;
        });
        trace(() -> new Node(null).cells = new int[-1]);
        trace(() -> {
            Node node = new Node(null);
            node.cells = new int[2];
            return node.cells[2];
        });
        trace(() -> {
            Object[] texts = new String[1];
            texts[0] = new Node(null);
            return texts;
        });
        trace(() -> 1 / (Failing.made - Failing.made));
        trace(() -> {
            new Object().wait();
            return null;
        });
        trace(() -> {
            new Node(null).lock.notify();
            return null;
        });
        ReentrantLock lock = new ReentrantLock();
        trace(() -> {
            lock.unlock();
            return null;
        });
        trace(() -> {
            Thread.currentThread().interrupt();
            synchronized (lock) {
                lock.wait();
            }
            return null;
        });
        trace(() -> List.of(3, 1, 2).stream().map(n -> 1 / (n - 1)).sorted().collect(Collectors.toList()));
        try {
            Mirror.class.getDeclaredMethod("reflected", int.class).invoke(null, 1);
        } catch (InvocationTargetException failure) {
            show(failure.getCause());
        }
    }

    static void reflected(int number) {
        throw new IllegalArgumentException("reflected " + number, new RuntimeException("cause"));
    }

    static void trace(Callable<?> work) {
        try {
            System.out.println("returned " + work.call());
        } catch (Throwable failure) {
            show(failure);
        }
    }

    static void show(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            System.out.println(at);
            for (StackTraceElement frame : at.getStackTrace()) {
                // How reflection and streams call is the platform's business.
                if (frame.getClassName().startsWith("Mirror")) {
                    System.out.println("    at " + frame);
                }
            }
            for (Throwable suppressed : at.getSuppressed()) {
                System.out.println("    suppressed " + suppressed);
            }
        }
    }

    // ---- messages of null pointers, which name what was null by looking at the code -------------------------------

    static void nulls() {
        Node none = null;
        Node one = new Node(null);
        trace(() -> one.next.next);
        trace(() -> one.next.next.value);
        trace(() -> one.next().value);
        trace(() -> one.next().next());
        trace(() -> one.cells[1]);
        trace(() -> one.cells.length);
        trace(() -> Node.shared.value);
        trace(() -> {
            one.next.value = 5;
            return null;
        });
        trace(() -> {
            one.next.value += one.value;
            return null;
        });
        trace(() -> {
            one.next.next = new Node(one);
            return null;
        });
        trace(() -> {
            one.cells[one.value] = 3;
            return null;
        });
        trace(() -> {
            Node.shared.cells[2]++;
            return null;
        });
        trace(() -> {
            Node local = one.next;
            return local.value;
        });
        trace(() -> {
            synchronized (one.next) {
                return 1;
            }
        });
        trace(() -> {
            Object[][] table = new Object[1][];
            return table[0][one.value];
        });
        trace(() -> {
            throw null;
        });
        trace(() -> none == null ? parameter(none) : 0);
        trace(() -> {
            ReentrantLock lock = null;
            lock.lock();
            return 1;
        });
        trace(() -> {
            java.util.Map<String, Node> map = new java.util.HashMap<>();
            return map.get("absent").next;
        });
        trace(() -> {
            java.util.Map<String, Node> map = null;
            return map.get("absent");
        });
        trace(() -> {
            Integer number = null;
            return number + one.value;
        });
        trace(() -> {
            Thread thread = null;
            thread.join();
            return 1;
        });
        trace(() -> {
            one.next.wait();
            return 1;
        });
    }

    static int parameter(Node given) {
        return given.next.value;
    }

    // ---- stacks -------------------------------------------------------------------------------------------------

    static void walked() throws Exception {
        StackWalker walker = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
        Supplier<List<String>> frames = () -> walker.walk(all -> all
            .map(frame -> frame.getClassName() + "." + frame.getMethodName() + frame.getMethodType() + ":"
                + frame.getLineNumber())
            .collect(Collectors.toList()));
        new Object() {
            synchronized void call(int depth) {
                if (depth > 0) {
                    call(depth - 1);
                } else {
                    frames.get().forEach(System.out::println);
                    System.out.println(caller(walker));
                }
            }
        }.call(2);
        for (StackTraceElement frame : Thread.currentThread().getStackTrace()) {
            System.out.println(frame);
        }
        List<String> shown = StackWalker.getInstance(StackWalker.Option.SHOW_HIDDEN_FRAMES)
            .walk(all -> all.map(StackWalker.StackFrame::getMethodName).collect(Collectors.toList()));
        System.out.println(shown);
    }

    static Class<?> caller(StackWalker walker) {
        return walker.getCallerClass();
    }

    // ---- threads ------------------------------------------------------------------------------------------------

    static void threads() throws Exception {
        Thread named = new Thread(() -> System.out.println("in " + Thread.currentThread().getName()), "named");
        named.start();
        named.join();
        System.out.println(named.getState() + " " + named.isAlive() + " " + Thread.currentThread().getThreadGroup());
        TreeSet<String> names = new TreeSet<>();
        Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
        System.out.println(names);
        Object lock = new Object();
        synchronized (lock) {
            System.out.println(Thread.holdsLock(lock) + " " + Thread.holdsLock(names));
        }
        Class<?>[] packages = {Mirror.class, Kept.class};
        for (Class<?> one : packages) {
            System.out.println(one.getModule().isNamed() + " " + one.getPackageName() + " " + one.getClassLoader().getName());
        }
        System.out.println(Mirror.class.getClassLoader().getDefinedPackages().length);
        try (var bytes = Mirror.class.getResourceAsStream("Mirror$Kept.class")) {
            System.out.println(Arrays.hashCode(bytes.readAllBytes()));
        }
    }

    // ---- lambdas ------------------------------------------------------------------------------------------------

    static void lambdas() {
        Supplier<Integer> plain = () -> 1;
        int number = Colour.values().length;
        Supplier<Integer> capturing = () -> number;
        Supplier<Integer> reference = plain::get;
        for (Supplier<Integer> one : List.of(plain, capturing, reference)) {
            Class<?> made = one.getClass();
            System.out.println(made.isHidden() + " " + made.isSynthetic() + " " + made.getDeclaredFields().length + " "
                + Arrays.stream(made.getDeclaredMethods()).map(Method::getName).sorted(Comparator.naturalOrder())
                    .collect(Collectors.toList())
                + " " + made.getSimpleName().replaceAll("/.*", "") + " " + (one.hashCode() == one.hashCode()));
        }
        Constructor<?>[] none = plain.getClass().getConstructors();
        System.out.println(none.length + " " + plain.equals(plain) + " " + plain.equals(capturing));
    }

    /** Ends with what nobody catches. */
    static void fail(String how) throws Exception {
        switch (how) {
            case "main" -> new Failing(3).deep(1);
            case "thread" -> {
                Thread thread = new Thread(() -> new Failing(9), "failing");
                thread.start();
                thread.join();
                System.out.println("the main thread goes on");
            }
            case "exit" -> {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
                System.err.println("leaving");
                System.exit(17);
            }
            default -> Runtime.getRuntime().halt(9);
        }
    }
}
