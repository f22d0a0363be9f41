package untorn.exercise;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import untorn.exercise.Sequence.Arg;
import untorn.exercise.Sequence.Statement;

/** A state, two calls for two threads, and queries for afterwards. */
final class Case {
    /** Milliseconds that the second call begins later where a plan holds the first one up. */
    private static final int HEAD_START = 3;
    private static final int LONGEST_STATE = 6, LONGEST_OF_OTHER = 2;
    /** Queries of an object that are asked, and among how many they are chosen. */
    private static final int MOST_QUERIES = 8, MOST_COMPARED = 60;
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

    /** A random one; nothing if its objects cannot be made. Methods that {@code hang} are left out of states. */
    static Case make(Pair pair, Maker maker, Random random, Workers workers, Set<Method> hang) throws Workers.Hung {
        Sequence state = new Sequence();
        int shared = -1;
        if (!pair.isAlone(pair.torn()) || !pair.isAlone(pair.by())) {
            Arg subject = maker.subject(pair.type(), state);
            if (subject == null || subject.variable() < 0) return null;
            shared = subject.variable();
            maker.take(0, state.size());
            maker.give(shared);
        }
        Object[] made = runs(state, workers);
        if (made == null || shared >= 0 && !pair.type().isInstance(made[shared])) return null;
        addCalls(pair, shared, random.nextInt(LONGEST_STATE), state, maker, random, workers, hang);
        int receiver = Modifier.isStatic(pair.torn().getModifiers()) ? -1 : shared;
        int argument = pair.sharedArgument(pair.torn());
        if (argument >= 0 && receiver >= 0 && random.nextInt(3) != 0) {
            maker.take(shared, state.size());
            Arg other = maker.subject(pair.type(), state);
            if (other == null || other.variable() < 0 || other.variable() == shared || runs(state, workers) == null) return null;
            receiver = other.variable();
            maker.take(shared, state.size());
            maker.give(shared);
            addCalls(pair, receiver, random.nextInt(LONGEST_OF_OTHER), state, maker, random, workers, hang);
        } else if (receiver >= 0) {
            argument = -1;
        }
        // Nothing but the object is in the hands of both threads.
        maker.takePlatforms(state);
        int before = state.size();
        List<Arg> ofTorn = maker.arguments(pair.torn(), state, 1);
        if (ofTorn == null) return null;
        maker.take(before, state.size());
        for (Arg arg : ofTorn) if (arg.variable() >= 0 && arg.variable() != shared) maker.take(arg.variable(), arg.variable() + 1);
        List<Arg> ofBy = maker.arguments(pair.by(), state, 1);
        if (ofBy == null) return null;
        if (argument >= 0) ofTorn.set(argument, Arg.of(shared));
        relate(pair, ofTorn, ofBy, random);
        boolean isStatic = Modifier.isStatic(pair.by().getModifiers());
        if (isStatic && shared >= 0 && pair.sharedArgument(pair.by()) >= 0) ofBy.set(pair.sharedArgument(pair.by()), Arg.of(shared));
        if (runs(state, workers) == null) return null;
        Statement torn = Statement.call(pair.torn(), receiver, ofTorn);
        Statement by = Statement.call(pair.by(), isStatic ? -1 : shared, ofBy);
        List<Statement> calls = List.of(torn, by), queries = new ArrayList<>();
        queries.addAll(telling(queries(pair.type(), shared, calls), state, calls, workers));
        if (receiver >= 0 && receiver != shared) queries.addAll(telling(queries(pair.type(), receiver, calls), state, calls, workers));
        return new Case(pair, state, shared, torn, by, queries);
    }

    /** Two calls that speak of the same things, if in another order, get in each other's way more often than any two. */
    private static void relate(Pair pair, List<Arg> ofTorn, List<Arg> ofBy, Random random) {
        if (random.nextBoolean()) return;
        Class<?>[] own = pair.torn().getParameterTypes(), wanted = pair.by().getParameterTypes();
        for (int i = 0; i < wanted.length; i++) {
            List<Arg> fitting = new ArrayList<>();
            for (int j = 0; j < own.length; j++) if (own[j] == wanted[i] && ofTorn.get(j).variable() < 0) fitting.add(ofTorn.get(j));
            if (!fitting.isEmpty() && ofBy.get(i).variable() < 0) ofBy.set(i, fitting.get(random.nextInt(fitting.size())));
        }
    }

    /** Random calls on an object; without one, of the class itself. */
    private static void addCalls(Pair pair, int of, int length, Sequence state, Maker maker, Random random, Workers workers, Set<Method> hang) {
        List<Method> methods = Maker.publicMethods(pair.type());
        int longest = state.size() + length;
        for (int i = 0; i < 3 * length && state.size() < longest; i++) {
            Method method = methods.get(random.nextInt(methods.size()));
            if (method.getParameterCount() == 0 && isQuery(method) || !Maker.isCallable(method) || hang.contains(method)) continue;
            // What only asks hardly changes a state.
            if (asks(method) && random.nextInt(5) != 0) continue;
            if (Modifier.isStatic(method.getModifiers()) != of < 0) continue;
            int before = state.size();
            List<Arg> args = maker.arguments(method, state, 1);
            if (args != null) state.add(Statement.call(method, of, args));
            // What throws or waits is left out.
            try {
                if (args == null || runs(state, workers) == null) state.cut(before);
            } catch (Workers.Hung hung) {
                hang.add(method);
                state.cut(before);
            }
        }
    }

    private static boolean asks(Method method) {
        String name = method.getName();
        return name.startsWith("equals") || name.startsWith("compare") || name.equals("hashCode") || name.equals("toString")
                || method.getReturnType() != void.class && Arrays.stream(ASKING).anyMatch(name::startsWith);
    }

    private static Object[] runs(Sequence state, Workers workers) throws Workers.Hung {
        Object made = workers.await(workers.first(() -> attempt(state)));
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
                && !method.isAnnotationPresent(Deprecated.class);
    }

    /** What can be asked without arguments, and with the arguments of the calls. */
    private static List<Statement> queries(Class<?> type, int of, List<Statement> calls) {
        List<Statement> asking = new ArrayList<>(), others = new ArrayList<>();
        for (Method method : Maker.publicMethods(type)) {
            if (!isQuery(method) || Modifier.isStatic(method.getModifiers()) != of < 0) continue;
            boolean asks = asks(method);
            if (method.getParameterCount() == 0) {
                Statement query = Statement.call(method, of, List.of());
                // A text often shows the whole state.
                if (method.getName().equals("toString")) asking.add(0, query);
                else (asks ? asking : others).add(query);
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
        return asking;
    }

    /** Of more queries than are asked, those whose answers the calls change, and after them what answers the same each time. */
    private static List<Statement> telling(List<Statement> all, Sequence state, List<Statement> calls, Workers workers) throws Workers.Hung {
        if (all.size() <= MOST_QUERIES) return all;
        List<Statement> some = all.subList(0, Math.min(all.size(), MOST_COMPARED));
        Object compared = workers.await(workers.first(() -> {
            List<Statement> changed = new ArrayList<>(), same = new ArrayList<>();
            for (Statement query : some) {
                String before = answer(query, state, List.of());
                if (!before.equals(answer(query, state, List.of()))) continue;
                (before.equals(answer(query, state, calls)) ? same : changed).add(query);
            }
            changed.addAll(same);
            return changed;
        }));
        if (!(compared instanceof List<?> told)) return all.subList(0, MOST_QUERIES);
        List<Statement> kept = new ArrayList<>(some);
        kept.sort(Comparator.comparingInt(query -> told.contains(query) ? told.indexOf(query) : some.size()));
        return kept.subList(0, Math.min(kept.size(), MOST_QUERIES));
    }

    /** What a query answers after these calls, of new objects. */
    private static String answer(Statement query, Sequence state, List<Statement> calls) {
        try {
            Object[] variables = state.run();
            for (Statement call : calls) attempt(call, variables);
            return Outcome.show(attempt(query, variables));
        } catch (Throwable failed) {
            return Outcome.NOTHING;
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
        return new Case(pair, state.repeated(shared, pair.torn(), times), shared, torn, by, queries);
    }

    /** What each part of an outcome is about. */
    String label(int part) {
        if (part == 0) return pair.torn().getName() + (torn.receiver() == shared || torn.receiver() < 0 ? "" : " of another");
        if (part == 1) return pair.by().getName();
        Statement query = queries.get(part - 2);
        String of = query.receiver() < 0 || query.receiver() == shared ? "" : " of the other";
        StringBuilder args = new StringBuilder();
        for (Arg arg : query.args()) args.append(arg.source());
        return query.called().getName() + "(" + args + ")" + of + " afterwards";
    }

    // ---- tries -------------------------------------------------------------------------------------------------------

    /** One of the calls held up before a point of it, for some milliseconds. */
    record Held(boolean torn, int stop, int milliseconds) {}

    /** One call after the other: which comes first, the milliseconds around them, and whether one is held up, alone. */
    record Turn(boolean tornFirst, int delay, Held held) {}

    /** One call after the other, each in its thread. */
    Outcome inTurn(Turn turn, Workers workers) throws Throwable {
        Object[] variables = state.run();
        pass(turn.delay());
        Object first = null, second = null;
        for (int i = 0; i < 2; i++) {
            boolean isTorn = turn.tornFirst() == (i == 0);
            Statement call = isTorn ? torn : by;
            Held held = turn.held() != null && turn.held().torn() == isTorn ? turn.held() : null;
            Method method = held == null ? null : calledOn(call, variables);
            Callable<Object> whole = () -> {
                if (method == null) return attempt(call, variables);
                Steps.begin(method, held.stop());
                try {
                    return attempt(call, variables);
                } finally {
                    Steps.end();
                }
            };
            Workers.Task task = isTorn ? workers.first(whole) : workers.second(whole);
            if (held != null) {
                try {
                    if (workers.awaitStop(task)) pass(held.milliseconds());
                } finally {
                    Steps.go();
                }
            }
            if (isTorn) first = workers.await(task);
            else second = workers.await(task);
            pass(turn.delay());
        }
        return outcome(variables, first, second, workers);
    }

    /** Both at once; one of them begins later by so many turns of a loop. */
    Outcome race(int head, Workers workers) throws Throwable {
        Object[] variables = state.run();
        AtomicInteger ready = new AtomicInteger();
        Workers.Task first = workers.first(() -> {
            meet(ready, head);
            return attempt(torn, variables);
        });
        Workers.Task second = workers.second(() -> {
            meet(ready, -head);
            // A plan holds the first up, so the other one comes when that is likely to be in the middle.
            if (workers.steered) pass(HEAD_START);
            return attempt(by, variables);
        });
        return outcome(variables, workers.await(first), workers.await(second), workers);
    }

    /** A method as the object has it. */
    private Method calledOn(Statement call, Object[] variables) throws NoSuchMethodException {
        Method called = (Method) call.called();
        if (call.receiver() < 0) return called;
        return variables[call.receiver()].getClass().getMethod(called.getName(), called.getParameterTypes());
    }

    /** What became of a try with {@link #within}: in how many milliseconds, and whether the second call waited for the first one. */
    record Within(Outcome outcome, int points, int[] trace, String place, boolean blocked, int milliseconds) {}

    /** The second call as a whole within the first one, before its access of this number; 0: after it. */
    Within within(int stop, Workers workers) throws Throwable {
        Object[] variables = state.run();
        Method method = calledOn(torn, variables);
        int[] points = {0};
        int[][] trace = {null};
        long begun = System.nanoTime();
        Workers.Task first = workers.first(() -> {
            Steps.begin(method, stop);
            try {
                return attempt(torn, variables);
            } finally {
                points[0] = Steps.end();
                if (stop == 0) trace[0] = Steps.trace();
            }
        });
        String place = null;
        Workers.Task second;
        Object ofFirst = null;
        boolean blocked = false;
        try {
            if (workers.awaitStop(first)) place = workers.placeOfFirst();
            else ofFirst = workers.await(first);
            second = workers.second(() -> attempt(by, variables));
            if (place != null) blocked = !workers.awaitSecond(second);
        } finally {
            Steps.go();
        }
        if (place != null) ofFirst = workers.await(first);
        Object ofSecond = workers.await(second);
        int milliseconds = (int) ((System.nanoTime() - begun) / 1_000_000);
        int[] passed = trace[0] == null ? null : Arrays.copyOf(trace[0], Math.min(trace[0].length, points[0]));
        return new Within(outcome(variables, ofFirst, ofSecond, workers), points[0], passed, place, blocked, milliseconds);
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

    private Outcome outcome(Object[] variables, Object first, Object second, Workers workers) throws Throwable {
        // The JVM is short of something: nothing that follows says anything of the calls.
        if (first instanceof VirtualMachineError error) throw error;
        if (second instanceof VirtualMachineError error) throw error;
        List<String> parts = new ArrayList<>();
        Object asked = workers.await(workers.first(() -> {
            parts.add(Outcome.shown(first));
            parts.add(Outcome.shown(second));
            for (Statement query : queries) parts.add(Outcome.show(attempt(query, variables)));
            return null;
        }));
        if (asked != null) throw new Workers.Hung();
        return new Outcome(parts);
    }
}
