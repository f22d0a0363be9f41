package untorn.exercise;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import untorn.exercise.Sequence.Arg;
import untorn.exercise.Sequence.Statement;

/** A state, two calls for two threads, and queries for afterwards. */
final class Case {
    /** Milliseconds after which a call does not come back: alone, and with another one. */
    private static final int ALONE = 1500, TOGETHER = 5000, HEAD_START = 3;
    private static final int LONGEST_STATE = 6, MOST_QUERIES = 8;
    private static final String[] ASKING = {"get", "contains", "is", "has", "index", "peek", "count", "size"};
    /** They change too much, or nothing that could be compared comes from them. */
    private static final Set<String> NO_QUERIES = Set.of("hashCode", "clone", "close", "iterator", "spliterator", "stream", "parallelStream");

    final Pair pair;
    final Sequence state;
    /** The variable with the object that both calls use. */
    final int shared;
    final Statement torn;
    final Statement by;
    final List<Statement> queries;

    private Case(Pair pair, Sequence state, int shared, Statement torn, Statement by, List<Statement> queries) {
        this.pair = pair;
        this.state = state;
        this.shared = shared;
        this.torn = torn;
        this.by = by;
        this.queries = queries;
    }

    /** A random one; nothing if its objects cannot be made. */
    static Case make(Pair pair, List<Class<?>> known, Random random, Workers workers) throws Workers.Hung {
        Maker maker = new Maker(known, random);
        Sequence state = new Sequence();
        Arg subject = maker.make(pair.type(), state, 0);
        if (subject == null || subject.variable() < 0) return null;
        int shared = subject.variable();
        if (runs(state, workers) == null) return null;
        int length = random.nextInt(LONGEST_STATE);
        List<Method> methods = Maker.publicMethods(pair.type());
        for (int i = 0; i < 3 * length && state.size() < LONGEST_STATE + shared; i++) {
            Method method = methods.get(random.nextInt(methods.size()));
            if (method.getParameterCount() == 0 && isQuery(method) || !Maker.isCallable(method)) continue;
            // What only asks hardly changes a state.
            if (asks(method) && random.nextInt(5) != 0) continue;
            if (java.lang.reflect.Modifier.isStatic(method.getModifiers())) continue;
            int before = state.size();
            List<Arg> args = maker.arguments(method, state, 1);
            if (args != null) state.add(Statement.call(method, shared, args));
            // What throws or waits is left out.
            if (args == null || runs(state, workers) == null) state.cut(before);
        }
        int receiver = shared;
        int argument = pair.sharedArgument();
        if (argument >= 0 && random.nextInt(3) != 0) {
            Arg other = maker.make(pair.type(), state, 0);
            if (other == null || other.variable() < 0 || other.variable() == shared) return null;
            receiver = other.variable();
        } else {
            argument = -1;
        }
        List<Arg> ofTorn = maker.arguments(pair.torn(), state, 1);
        List<Arg> ofBy = maker.arguments(pair.by(), state, 1);
        if (ofTorn == null || ofBy == null) return null;
        if (argument >= 0) ofTorn.set(argument, Arg.of(shared));
        if (runs(state, workers) == null) return null;
        Statement torn = Statement.call(pair.torn(), receiver, ofTorn);
        Statement by = Statement.call(pair.by(), shared, ofBy);
        List<Statement> queries = new ArrayList<>();
        addQueries(pair.type(), shared, List.of(torn, by), queries);
        if (receiver != shared) addQueries(pair.type(), receiver, List.of(torn, by), queries);
        return new Case(pair, state, shared, torn, by, queries);
    }

    private static boolean asks(Method method) {
        String name = method.getName();
        return name.startsWith("equals") || name.startsWith("compare") || name.equals("hashCode") || name.equals("toString")
                || method.getReturnType() != void.class && Arrays.stream(ASKING).anyMatch(name::startsWith);
    }

    private static Object[] runs(Sequence state, Workers workers) throws Workers.Hung {
        Object made = workers.await(workers.first(() -> attempt(state)), ALONE);
        return made instanceof Object[] variables ? variables : null;
    }

    private static Object attempt(Sequence state) {
        try {
            return state.run();
        } catch (Throwable thrown) {
            return thrown;
        }
    }

    private static boolean isQuery(Method method) {
        Class<?> type = method.getReturnType();
        boolean shows = type.isPrimitive() && type != void.class || type == String.class || type.isArray() || type.isEnum()
                || Number.class.isAssignableFrom(type) || type == Boolean.class || type == Object.class
                || java.util.Collection.class.isAssignableFrom(type) || java.util.Map.class.isAssignableFrom(type);
        return shows && Maker.isCallable(method) && !NO_QUERIES.contains(method.getName())
                && !java.lang.reflect.Modifier.isStatic(method.getModifiers())
                && !method.isAnnotationPresent(Deprecated.class);
    }

    /** What can be asked without arguments, and with the arguments of the calls. */
    private static void addQueries(Class<?> type, int of, List<Statement> calls, List<Statement> queries) {
        int most = queries.size() + MOST_QUERIES;
        List<Statement> asking = new ArrayList<>(), others = new ArrayList<>();
        for (Method method : Maker.publicMethods(type)) {
            if (!isQuery(method)) continue;
            boolean asks = asks(method);
            if (method.getParameterCount() == 0) {
                (asks ? asking : others).add(Statement.call(method, of, List.of()));
            } else if (method.getParameterCount() == 1 && asks) {
                Class<?> wanted = method.getParameterTypes()[0];
                for (Statement call : calls) {
                    Class<?>[] types = call.called().getParameterTypes();
                    for (int i = 0; i < types.length; i++) {
                        Arg arg = call.args().get(i);
                        Statement query = Statement.call(method, of, List.of(arg));
                        if (types[i] == wanted && arg.variable() < 0 && !asking.contains(query)) asking.add(query);
                    }
                }
            }
        }
        // Queries that take something away come last.
        asking.addAll(others);
        for (Statement query : asking) {
            if (queries.size() < most) queries.add(query);
        }
    }

    /** The same without a statement of its state; nothing if that is needed. */
    Case without(int dropped) {
        for (int i = dropped + 1; i < state.size(); i++) {
            if (state.statements.get(i).uses(dropped)) return null;
        }
        if (dropped == shared || torn.uses(dropped) || by.uses(dropped)) return null;
        List<Statement> moved = new ArrayList<>();
        for (Statement query : queries) moved.add(Sequence.moved(query, dropped));
        int at = shared > dropped ? shared - 1 : shared;
        return new Case(pair, state.without(dropped), at, Sequence.moved(torn, dropped), Sequence.moved(by, dropped), moved);
    }

    /** The same from a state that takes longer to go through. */
    Case repeated(int times) {
        return new Case(pair, state.repeated(shared, times), shared, torn, by, queries);
    }

    /** What each part of an outcome is about. */
    String label(int part) {
        if (part == 0) return pair.torn().getName() + (torn.receiver() == shared ? "" : " of another");
        if (part == 1) return pair.by().getName();
        Statement query = queries.get(part - 2);
        StringBuilder args = new StringBuilder();
        for (Arg arg : query.args()) args.append(arg.source());
        return query.called().getName() + "(" + args + ") afterwards";
    }

    // ---- tries ----------------------------------------------------------------------------------------------------

    /** One call after the other, each in its thread, with some milliseconds in between; the first as slow as when it is stopped, if the driver can. */
    Outcome inTurn(boolean tornFirst, int delay, boolean slowly, Workers workers) throws Throwable {
        Object[] variables = state.run();
        Method method = slowly && Steps.areThere() ? tornOf(variables) : null;
        pass(delay);
        Object first = null, second = null;
        for (int i = 0; i < 2; i++) {
            if (tornFirst == (i == 0)) {
                first = workers.await(workers.first(() -> {
                    if (method != null) Steps.begin(method, 0);
                    try {
                        return attempt(torn, variables);
                    } finally {
                        if (method != null) Steps.end();
                    }
                }), ALONE);
            } else {
                second = workers.await(workers.second(() -> attempt(by, variables)), ALONE);
            }
            pass(delay);
        }
        return outcome(variables, first, second, workers);
    }

    /** Both at once; one of them begins later by so many turns of a loop. */
    Outcome race(int head, Workers workers) throws Throwable {
        Object[] variables = state.run();
        AtomicInteger ready = new AtomicInteger();
        Future<Object> first = workers.first(() -> {
            meet(ready, head);
            return attempt(torn, variables);
        });
        Future<Object> second = workers.second(() -> {
            meet(ready, -head);
            // A plan holds the first up, so the other one comes when that is likely to be in the middle.
            if (workers.steered) pass(HEAD_START);
            return attempt(by, variables);
        });
        return outcome(variables, workers.await(first, TOGETHER), workers.await(second, TOGETHER), workers);
    }

    /** The method that may be torn, as the object has it. */
    private Method tornOf(Object[] variables) throws NoSuchMethodException {
        Method called = pair.torn();
        return variables[torn.receiver()].getClass().getMethod(called.getName(), called.getParameterTypes());
    }

    /** What became of a try with {@link #within}. */
    record Within(Outcome outcome, int points, String place) {}

    /** The second call as a whole within the first one, before its access of this number; 0: after it. */
    Within within(int stop, Workers workers) throws Throwable {
        Object[] variables = state.run();
        Method method = tornOf(variables);
        int[] points = {0};
        Future<Object> first = workers.first(() -> {
            Steps.begin(method, stop);
            try {
                return attempt(torn, variables);
            } finally {
                points[0] = Steps.end();
            }
        });
        String place = null;
        Future<Object> second;
        Object ofFirst = null;
        try {
            long begun = System.nanoTime();
            for (int tries = 0; !first.isDone() && !Steps.isStopped(); tries++) {
                if (System.nanoTime() - begun > TOGETHER * 1_000_000L) break;
                workers.nap(tries);
            }
            if (Steps.isStopped()) place = workers.placeOfFirst();
            else ofFirst = workers.await(first, TOGETHER);
            second = workers.second(() -> attempt(by, variables));
            if (place != null) workers.awaitSecondOrBlocked(second);
        } finally {
            Steps.go();
        }
        if (place != null) ofFirst = workers.await(first, TOGETHER);
        Object ofSecond = workers.await(second, TOGETHER);
        return new Within(outcome(variables, ofFirst, ofSecond, workers), points[0], place);
    }

    private static void meet(AtomicInteger ready, int turns) {
        ready.incrementAndGet();
        // A thread that gives its processor up is late; one that waits for long has none to wait for.
        for (int spins = 0; ready.get() < 2; spins++) {
            if (spins > 1000) Thread.yield();
        }
        for (int i = 0; i < turns; i++) Thread.onSpinWait();
    }

    private static void pass(int milliseconds) throws InterruptedException {
        if (milliseconds > 0) Thread.sleep(milliseconds);
    }

    private static Object attempt(Statement call, Object[] variables) {
        try {
            return call.run(variables);
        } catch (Throwable thrown) {
            return thrown;
        }
    }

    private Outcome outcome(Object[] variables, Object first, Object second, Workers workers) throws Workers.Hung {
        List<String> parts = new ArrayList<>();
        Object asked = workers.await(workers.first(() -> {
            parts.add(Outcome.shown(first));
            parts.add(Outcome.shown(second));
            for (Statement query : queries) parts.add(Outcome.show(attempt(query, variables)));
            return null;
        }), ALONE);
        if (asked != null) throw new Workers.Hung();
        return new Outcome(parts);
    }
}
