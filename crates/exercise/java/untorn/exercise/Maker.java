package untorn.exercise;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import untorn.exercise.Sequence.Arg;
import untorn.exercise.Sequence.Statement;

/**
 * Makes objects of any class: by constructors, factories and builders among the given classes, whose arguments are made
 * alike; interfaces by classes that implement them, or by proxies.
 */
final class Maker {
    /** How deep arguments are made of arguments. */
    private static final int DEEPEST = 3;
    /** What would leave the process, or wait for what never comes. */
    private static final Set<String> NEVER = Set.of("wait", "notify", "notifyAll", "getClass", "finalize", "main", "exit", "halt");
    private static final String[] NO_PACKAGES = {
        "java.net.", "java.nio.file.", "java.nio.channels.", "java.lang.reflect.", "java.lang.invoke.", "java.security.",
        "java.lang.Process", "java.lang.Runtime", "java.lang.Thread", "java.lang.ClassLoader", "java.lang.System",
        "java.io.File", "java.io.RandomAccessFile", "java.util.concurrent.ForkJoin", "javax.", "sun.", "com.sun.", "jdk.",
    };

    private final List<Class<?>> known;
    private final Map<Class<?>, List<Executable>> makers = new HashMap<>();
    private final Random random;

    Maker(List<Class<?>> known, Random random) {
        this.known = known;
        this.random = random;
    }

    /** Whether other classes may name it. */
    static boolean isVisible(Class<?> type) {
        while (type.isArray()) type = type.getComponentType();
        if (type.isPrimitive()) return true;
        for (Class<?> it = type; it != null; it = it.getDeclaringClass()) {
            if (!Modifier.isPublic(it.getModifiers()) || it.isAnonymousClass() || it.isLocalClass()) return false;
        }
        return true;
    }

    static boolean isAllowed(Class<?> type) {
        while (type.isArray()) type = type.getComponentType();
        String name = type.getName();
        return Arrays.stream(NO_PACKAGES).noneMatch(name::startsWith);
    }

    /** Whether a method may be called at all. */
    static boolean isCallable(Method method) {
        boolean isPublic = Modifier.isPublic(method.getModifiers()) && isVisible(method.getDeclaringClass());
        return isPublic && !method.isSynthetic() && !NEVER.contains(method.getName())
                && Arrays.stream(method.getParameterTypes()).allMatch(type -> isVisible(type) && isAllowed(type));
    }

    /** Makes a value at the end of a sequence; nothing if there is no way, or the one that was chosen fails. */
    Arg make(Class<?> type, Sequence out, int depth) {
        if (!isVisible(type) || !isAllowed(type)) return null;
        if (depth > 0 && type != Object.class && random.nextInt(2) == 0) {
            Arg there = existing(type, out);
            if (there != null) return there;
        }
        Arg value = Values.immutable(type, random);
        if (value != null) return value;
        if (type.isArray()) return array(type, out, depth);
        if (depth > DEEPEST) return null;
        List<Executable> ways = ways(type);
        Statement simple = Values.platform(type, random);
        if (simple != null && (ways.isEmpty() || random.nextInt(4) != 0)) return added(simple, out);
        // Simple ones come first, and are taken more often.
        for (int tries = 0; tries < 4 && !ways.isEmpty(); tries++) {
            int at = (int) (ways.size() * random.nextDouble() * random.nextDouble());
            Arg made = call(ways.get(at), out, depth);
            if (made != null) return made;
        }
        Statement proxy = Values.proxy(type, random);
        return proxy == null ? null : added(proxy, out);
    }

    /** A variable of the type that is there already. */
    private Arg existing(Class<?> type, Sequence out) {
        List<Arg> fitting = new ArrayList<>();
        for (int i = 0; i < out.size(); i++) {
            Class<?> there = out.statements.get(i).type();
            if (there != void.class && type.isAssignableFrom(there)) fitting.add(Arg.of(i));
        }
        return fitting.isEmpty() ? null : fitting.get(random.nextInt(fitting.size()));
    }

    private static Arg added(Statement statement, Sequence out) {
        return Arg.of(out.add(statement));
    }

    private Arg array(Class<?> type, Sequence out, int depth) {
        Class<?> of = type.getComponentType();
        if (of.isArray()) return null;
        int length = random.nextInt(3);
        List<Arg> elements = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            Arg element = make(of, out, depth + 1);
            if (element != null) elements.add(element);
        }
        return added(Statement.array(type, elements), out);
    }

    /** A call with arguments that are made for it; what was added for one that cannot be made is taken away. */
    Arg call(Executable way, Sequence out, int depth) {
        int before = out.size();
        int receiver = -1;
        if (way instanceof Method method && !Modifier.isStatic(method.getModifiers())) {
            Arg of = make(method.getDeclaringClass(), out, depth + 1);
            if (of == null || of.variable() < 0) {
                out.cut(before);
                return null;
            }
            receiver = of.variable();
        }
        List<Arg> args = arguments(way, out, depth + 1);
        if (args == null) {
            out.cut(before);
            return null;
        }
        return Arg.of(out.add(Statement.call(way, receiver, args)));
    }

    /** Arguments for a call; nothing if one cannot be made. */
    List<Arg> arguments(Executable way, Sequence out, int depth) {
        List<Arg> args = new ArrayList<>();
        for (Class<?> type : way.getParameterTypes()) {
            Arg arg = make(type, out, depth);
            if (arg == null) return null;
            args.add(arg);
        }
        return args;
    }

    /** How objects of a type are made, those with few arguments first. */
    private List<Executable> ways(Class<?> type) {
        return makers.computeIfAbsent(type, this::findWays);
    }

    private List<Executable> findWays(Class<?> type) {
        List<Executable> ways = new ArrayList<>();
        addOwn(type, type, ways);
        if (ways.isEmpty() || type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
            for (Class<?> other : known) {
                if (other != type && type.isAssignableFrom(other)) addOwn(other, other, ways);
            }
        }
        // Factories and builders elsewhere.
        if (ways.isEmpty()) {
            for (Class<?> other : known) {
                for (Method method : publicMethods(other)) {
                    if (method.getReturnType() == type && isCallable(method) && other != type) ways.add(method);
                }
            }
        }
        ways.sort(Comparator.comparingInt(Executable::getParameterCount).thenComparing(Executable::toString));
        return ways;
    }

    private static void addOwn(Class<?> type, Class<?> wanted, List<Executable> ways) {
        if (!isVisible(type) || type.getEnclosingClass() != null && !Modifier.isStatic(type.getModifiers())) return;
        try {
            if (!Modifier.isAbstract(type.getModifiers())) {
                for (Constructor<?> it : type.getConstructors()) {
                    boolean copies = Arrays.asList(it.getParameterTypes()).contains(type);
                    if (!copies && !it.isAnnotationPresent(Deprecated.class) || it.getParameterCount() == 0) ways.add(it);
                }
            }
            for (Method it : type.getDeclaredMethods()) {
                boolean makes = Modifier.isStatic(it.getModifiers()) && wanted.isAssignableFrom(it.getReturnType());
                if (makes && isCallable(it)) ways.add(it);
            }
        } catch (LinkageError incomplete) {
            // Its own classes are missing: it cannot be made.
        }
    }

    /** In an order that does not change. */
    static List<Method> publicMethods(Class<?> type) {
        try {
            List<Method> all = new ArrayList<>(Arrays.asList(type.getMethods()));
            all.removeIf(method -> method.getDeclaringClass() == Object.class);
            all.sort(Comparator.comparing(Method::getName).thenComparing(Method::toString));
            return all;
        } catch (LinkageError incomplete) {
            return List.of();
        }
    }
}
