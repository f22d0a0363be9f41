package untorn.exercise;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * A straight-line program that makes objects and calls their methods, as in Randoop (Pacheco et al., ICSE 2007): the value
 * of each statement is a variable of those that follow. It can be executed any number of times, each time with new objects,
 * and written down as Java.
 */
final class Sequence {
    /** What makes a value that is no call; its text is an expression. */
    interface Maker {
        Object make();
    }

    /** An argument: a variable, or an immutable value with its text. */
    record Arg(int variable, Object value, String source) {
        static Arg of(int variable) {
            return new Arg(variable, null, null);
        }

        static Arg of(Object value, String source) {
            return new Arg(-1, value, source);
        }

        /** A number that Java has no literals for. */
        Arg asCast(String type) {
            return new Arg(variable, value, "(" + type + ") " + value);
        }

        Object get(Object[] variables) {
            return variable >= 0 ? variables[variable] : value;
        }
    }

    /** A call of a constructor or method, or an expression. */
    record Statement(Executable called, int receiver, List<Arg> args, Maker maker, String source, Class<?> type, int times) {
        static Statement call(Executable called, int receiver, List<Arg> args) {
            Class<?> type = called instanceof Method method ? method.getReturnType() : called.getDeclaringClass();
            return new Statement(called, receiver, args, null, null, type, 1);
        }

        static Statement expression(Class<?> type, String source, Maker maker) {
            return new Statement(null, -1, List.of(), maker, source, type, 1);
        }

        /** An array of these. */
        static Statement array(Class<?> type, List<Arg> elements) {
            return new Statement(null, -1, elements, null, null, type, 1);
        }

        /** The same, of which it is known that it gives one of these. */
        Statement as(Class<?> known) {
            return new Statement(called, receiver, args, maker, source, known, times);
        }

        /** Whether its text says less of what it gives than is known. */
        boolean needsCast() {
            return called instanceof Method method && !type.isAssignableFrom(method.getReturnType());
        }

        /** The same call several times in a row. */
        Statement repeated(int times) {
            return new Statement(called, receiver, args, maker, source, type, times);
        }

        /** Whether it needs the value of another. */
        boolean uses(int variable) {
            return receiver == variable || args.stream().anyMatch(arg -> arg.variable() == variable);
        }

        Object run(Object[] variables) throws Throwable {
            if (maker != null) return maker.make();
            Object[] values = new Object[args.size()];
            for (int i = 0; i < values.length; i++) values[i] = args.get(i).get(variables);
            if (type.isArray() && called == null) {
                Object array = Array.newInstance(type.getComponentType(), values.length);
                for (int i = 0; i < values.length; i++) Array.set(array, i, values[i]);
                return array;
            }
            try {
                if (called instanceof Constructor<?> constructor) return constructor.newInstance(values);
                return ((Method) called).invoke(receiver >= 0 ? variables[receiver] : null, values);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        }
    }

    final List<Statement> statements = new ArrayList<>();

    int add(Statement statement) {
        statements.add(statement);
        return statements.size() - 1;
    }

    int size() {
        return statements.size();
    }

    /** Forgets the last statements. */
    void cut(int size) {
        while (statements.size() > size) statements.remove(statements.size() - 1);
    }

    /** New objects. A statement that throws ends it: sequences are made of those that do not. */
    Object[] run() throws Throwable {
        Object[] variables = new Object[statements.size()];
        for (int i = 0; i < variables.length; i++) {
            Statement statement = statements.get(i);
            for (int n = 0; n < statement.times(); n++) variables[i] = statement.run(variables);
        }
        return variables;
    }

    /** The same without a statement that nothing needs. */
    Sequence without(int dropped) {
        Sequence shorter = new Sequence();
        for (int i = 0; i < statements.size(); i++) {
            if (i != dropped) shorter.add(moved(statements.get(i), dropped));
        }
        return shorter;
    }

    /** The same with calls on an object that nothing else needs made several times in a row, but for those of one method: a plan would hold each of them up. */
    Sequence repeated(int receiver, Executable once, int times) {
        Sequence longer = new Sequence();
        for (int i = 0; i < statements.size(); i++) {
            Statement it = statements.get(i);
            boolean isNeeded = false;
            for (Statement later : statements.subList(i + 1, statements.size())) isNeeded |= later.uses(i);
            boolean isRepeated = it.receiver() == receiver && !isNeeded && !it.called().equals(once);
            longer.add(isRepeated ? it.repeated(times) : it);
        }
        return longer;
    }

    /** A statement after another one before it was dropped. */
    static Statement moved(Statement it, int dropped) {
        List<Arg> args = new ArrayList<>();
        for (Arg arg : it.args()) {
            args.add(arg.variable() > dropped ? Arg.of(arg.variable() - 1) : arg);
        }
        int receiver = it.receiver() > dropped ? it.receiver() - 1 : it.receiver();
        return new Statement(it.called(), receiver, args, it.maker(), it.source(), it.type(), it.times());
    }
}
