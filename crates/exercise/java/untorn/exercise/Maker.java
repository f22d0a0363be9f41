package untorn.exercise;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
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

    /** Ways to an object of a class that has none of its own, which are tried. */
    private static final int MOST_TRIED = 40;

    private final List<Class<?>> known;
    /** What was found out of classes, for all makers. */
    private final Map<Class<?>, List<Executable>> makers, factories;
    private final Random random;
    /** Variables that nothing more is made of: what an object was made of is its own, and another thread must not get hold of it. */
    private final Set<Integer> taken = new HashSet<>();

    Maker(List<Class<?>> known, Random random) {
        this(known, random, new HashMap<>(), new HashMap<>());
    }

    private Maker(List<Class<?>> known, Random random, Map<Class<?>, List<Executable>> makers, Map<Class<?>, List<Executable>> factories) {
        this.known = known;
        this.random = random;
        this.makers = makers;
        this.factories = factories;
    }

    /** One that knows what this one knows, and chooses otherwise. */
    Maker choosingBy(Random other) {
        return new Maker(known, other, makers, factories);
    }

    /** An object of a class that both calls use; nothing if the way that was chosen fails. */
    Arg subject(Class<?> type, Sequence out) {
        List<Executable> ways = ways(type);
        if (isVisible(type) && !ways.isEmpty()) return make(type, out, 0);
        // Others make it, and say only that they make something of the kind: whether it is one shows when they are called.
        List<Executable> found = factories.get(type);
        if (found == null) {
            found = choosingBy(new Random(1)).findFactories(type);
            factories.put(type, found);
        }
        if (found.isEmpty()) return isVisible(type) ? make(type, out, 0) : null;
        Arg made = call(found.get(random.nextInt(found.size())), out, 0);
        if (made != null && isVisible(type)) out.statements.set(made.variable(), out.statements.get(made.variable()).as(type));
        return made;
    }

    private List<Executable> findFactories(Class<?> type) {
        List<Executable> found = new ArrayList<>();
        for (Class<?> other : known) {
            if (other.getPackage() != type.getPackage()) continue;
            for (Method method : publicMethods(other)) {
                Class<?> result = method.getReturnType();
                boolean fits = result != Object.class && result != type && result.isAssignableFrom(type) && isVisible(result);
                if (fits && isCallable(method) && found.size() < MOST_TRIED && makes(method, type)) found.add(method);
            }
        }
        return found;
    }

    private boolean makes(Method factory, Class<?> type) {
        Sequence alone = new Sequence();
        try {
            Arg made = call(factory, alone, 0);
            return made != null && type.isInstance(alone.run()[made.variable()]);
        } catch (Throwable failed) {
            return false;
        }
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

    /** The class around a class and all that is around it. */
    static Class<?> outermost(Class<?> type) {
        while (type.getDeclaringClass() != null) type = type.getDeclaringClass();
        return type;
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
        // Simple ones come first, and are taken more often; others say more of what the object is to be like.
        for (int tries = 0; tries < 4 && !ways.isEmpty(); tries++) {
            int at = (int) (ways.size() * random.nextDouble() * (random.nextBoolean() ? 1 : random.nextDouble()));
            Arg made = call(ways.get(at), out, depth);
            if (made == null) continue;
            if (depth > 0 && random.nextBoolean()) tell(made.variable(), out, depth);
            return made;
        }
        Statement proxy = Values.proxy(type, random);
        return proxy == null ? null : added(proxy, out);
    }

    /** Keeps the variables from here to there out of what is made from now on. */
    void take(int from, int to) {
        for (int i = from; i < to; i++) taken.add(i);
    }

    /** Lets a variable be used again. */
    void give(int variable) {
        taken.remove(variable);
    }

    /** Keeps objects of the platform out of what is made from now on: few of them may be used by several threads. */
    void takePlatforms(Sequence state) {
        for (int i = 0; i < state.size(); i++) if (state.statements.get(i).type().getName().startsWith("java")) taken.add(i);
    }

    /** Forgets variables that were cut off. */
    void cut(int size) {
        taken.removeIf(variable -> variable >= size);
    }

    /** A variable of the type that is there already. */
    private Arg existing(Class<?> type, Sequence out) {
        List<Arg> fitting = new ArrayList<>();
        for (int i = 0; i < out.size(); i++) {
            Class<?> there = out.statements.get(i).type();
            if (there != void.class && type.isAssignableFrom(there) && !taken.contains(i)) fitting.add(Arg.of(i));
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

    /** Calls on a new object that give back one of its kind, as builders are told what to build. */
    private void tell(int receiver, Sequence out, int depth) {
        Class<?> type = out.statements.get(receiver).type();
        List<Method> chained = new ArrayList<>(publicMethods(type));
        chained.removeIf(method -> Modifier.isStatic(method.getModifiers()) || method.getParameterCount() == 0
                || method.getReturnType() == Object.class || !method.getReturnType().isAssignableFrom(type) || !isCallable(method));
        for (int calls = chained.isEmpty() ? 0 : 1 + random.nextInt(2); calls > 0; calls--) {
            Method method = chained.get(random.nextInt(chained.size()));
            int before = out.size();
            List<Arg> args = arguments(method, out, depth + 1);
            if (args == null) out.cut(before);
            else out.add(Statement.call(method, receiver, args));
        }
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
        List<Executable> found = makers.get(type);
        if (found == null) {
            found = findWays(type);
            makers.put(type, found);
        }
        return found;
    }

    private List<Executable> findWays(Class<?> type) {
        List<Executable> ways = new ArrayList<>();
        addOwn(type, type, ways);
        if (ways.isEmpty() || type.isInterface() || Modifier.isAbstract(type.getModifiers())) {
            for (Class<?> other : known) {
                if (other != type && type.isAssignableFrom(other)) addOwn(other, other, ways);
            }
        }
        // Factories and builders elsewhere; what many classes inherit is one.
        if (ways.isEmpty()) {
            Set<Executable> others = new LinkedHashSet<>();
            for (Class<?> other : known) {
                for (Method method : publicMethods(other)) {
                    if (method.getReturnType() == type && isCallable(method) && other != type) others.add(method);
                }
            }
            ways.addAll(others);
        }
        // Builders are mostly members of what they build; who only holds such an object needs one first.
        Comparator<Executable> order = Comparator.comparing(way -> outermost(way.getDeclaringClass()) != outermost(type));
        ways.sort(order.thenComparingInt(Executable::getParameterCount).thenComparing(Executable::toString));
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
            List<Method> all = new ArrayList<>();
            if (isVisible(type)) all.addAll(Arrays.asList(type.getMethods()));
            else addInherited(type, all);
            all.removeIf(method -> method.getDeclaringClass() == Object.class);
            all.sort(Comparator.comparing(Method::getName).thenComparing(Method::toString));
            return all;
        } catch (LinkageError incomplete) {
            return List.of();
        }
    }

    /** The methods of a class that nobody may name, as what is above it declares them. */
    private static void addInherited(Class<?> type, List<Method> all) {
        List<Class<?>> above = new ArrayList<>(Arrays.asList(type.getInterfaces()));
        if (type.getSuperclass() != null) above.add(type.getSuperclass());
        for (Class<?> it : above) {
            if (!isVisible(it)) {
                addInherited(it, all);
                continue;
            }
            for (Method method : it.getMethods()) {
                boolean isKnown = all.stream().anyMatch(known -> known.getName().equals(method.getName())
                        && Arrays.equals(known.getParameterTypes(), method.getParameterTypes()));
                if (!isKnown) all.add(method);
            }
        }
    }
}
