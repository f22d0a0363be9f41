package untorn.exercise;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.TimeUnit;
import untorn.exercise.Sequence.Arg;
import untorn.exercise.Sequence.Statement;

/** Small pools of values: few, so that two calls often speak of the same one. */
final class Values {
    private static final String[] STRINGS = {"a", "b", "abc", "a"};
    private static final int[] INTS = {0, 1, 2, 3, 1, 0, 10, -1};
    private static final double[] DOUBLES = {0, 1, 2.5, 1};

    private Values() {}

    /** A value that cannot change, or nothing. */
    static Arg immutable(Class<?> type, Random random) {
        if (type == int.class || type == Integer.class || type == Number.class) {
            int value = INTS[random.nextInt(INTS.length)];
            return Arg.of(value, "" + value);
        }
        if (type == long.class || type == Long.class) {
            long value = INTS[random.nextInt(INTS.length)];
            return Arg.of(value, value + "L");
        }
        if (type == short.class || type == Short.class) return Arg.of((short) random.nextInt(3), null).asCast("short");
        if (type == byte.class || type == Byte.class) return Arg.of((byte) random.nextInt(3), null).asCast("byte");
        if (type == boolean.class || type == Boolean.class) {
            boolean value = random.nextBoolean();
            return Arg.of(value, "" + value);
        }
        if (type == char.class || type == Character.class) {
            char value = (char) ('a' + random.nextInt(3));
            return Arg.of(value, "'" + value + "'");
        }
        if (type == double.class || type == Double.class) {
            double value = DOUBLES[random.nextInt(DOUBLES.length)];
            return Arg.of(value, "" + value);
        }
        if (type == float.class || type == Float.class) {
            float value = (float) DOUBLES[random.nextInt(DOUBLES.length)];
            return Arg.of(value, value + "f");
        }
        if (type == String.class || type == Object.class || type == Comparable.class
                || type == java.io.Serializable.class || type == CharSequence.class) {
            String value = STRINGS[random.nextInt(STRINGS.length)];
            return Arg.of(value, "\"" + value + "\"");
        }
        if (type == Class.class) return Arg.of(String.class, "String.class");
        if (type == Locale.class) return Arg.of(Locale.ROOT, "java.util.Locale.ROOT");
        if (type == Charset.class) {
            return Arg.of(StandardCharsets.UTF_8, "java.nio.charset.StandardCharsets.UTF_8");
        }
        if (type == BigInteger.class) return Arg.of(BigInteger.ONE, "java.math.BigInteger.ONE");
        if (type == BigDecimal.class) return Arg.of(BigDecimal.ONE, "java.math.BigDecimal.ONE");
        if (type == TimeUnit.class) {
            return Arg.of(TimeUnit.MILLISECONDS, "java.util.concurrent.TimeUnit.MILLISECONDS");
        }
        if (type.isEnum()) {
            Object[] all = type.getEnumConstants();
            if (all.length == 0) return null;
            Enum<?> one = (Enum<?>) all[random.nextInt(all.length)];
            return Arg.of(one, type.getCanonicalName() + "." + one.name());
        }
        return null;
    }

    /** An object of the platform that may be changed, or nothing. */
    static Statement platform(Class<?> type, Random random) {
        boolean some = random.nextInt(4) != 0;
        String list = some ? "java.util.Arrays.asList(\"a\", \"b\")" : "java.util.Collections.emptyList()";
        List<String> values = some ? List.of("a", "b") : List.of();
        if (type.isAssignableFrom(ArrayList.class) && type.isInterface() && Iterable.class.isAssignableFrom(type)) {
            return Statement.expression(type, "new java.util.ArrayList(" + list + ")", () -> new ArrayList<>(values));
        }
        if (type == Set.class || type == SortedSet.class || type == NavigableSet.class) {
            return Statement.expression(type, "new java.util.TreeSet(" + list + ")", () -> new TreeSet<>(values));
        }
        if (type == Queue.class || type == Deque.class) {
            return Statement.expression(type, "new java.util.ArrayDeque(" + list + ")", () -> new ArrayDeque<>(values));
        }
        if (type == Map.class || type == SortedMap.class || type == NavigableMap.class || type == AbstractMap.class) {
            if (!some) return Statement.expression(type, "new java.util.TreeMap()", TreeMap::new);
            return Statement.expression(type, "new java.util.TreeMap(java.util.Map.of(\"a\", \"b\"))",
                    () -> new TreeMap<>(Map.of("a", "b")));
        }
        if (type == Iterator.class) {
            return Statement.expression(type, list + ".iterator()", values::iterator);
        }
        if (type == InputStream.class) {
            return Statement.expression(type, "new java.io.ByteArrayInputStream(new byte[] {1, 2, 3})",
                    () -> new ByteArrayInputStream(new byte[] {1, 2, 3}));
        }
        if (type == OutputStream.class) {
            return Statement.expression(type, "new java.io.ByteArrayOutputStream()", ByteArrayOutputStream::new);
        }
        if (type == PrintStream.class) {
            return Statement.expression(type, "new java.io.PrintStream(new java.io.ByteArrayOutputStream())",
                    () -> new PrintStream(new ByteArrayOutputStream()));
        }
        if (type == Reader.class) {
            return Statement.expression(type, "new java.io.StringReader(\"abc\")", () -> new StringReader("abc"));
        }
        if (type == Writer.class) {
            return Statement.expression(type, "new java.io.StringWriter()", StringWriter::new);
        }
        if (type == PrintWriter.class) {
            return Statement.expression(type, "new java.io.PrintWriter(new java.io.StringWriter())",
                    () -> new PrintWriter(new StringWriter()));
        }
        if (type == Date.class) return Statement.expression(type, "new java.util.Date(0)", () -> new Date(0));
        if (type == TimeZone.class) {
            return Statement.expression(type, "java.util.TimeZone.getTimeZone(\"UTC\")", () -> TimeZone.getTimeZone("UTC"));
        }
        if (type == Random.class) return Statement.expression(type, "new java.util.Random(1)", () -> new Random(1));
        return null;
    }

    /** An interface whose methods answer defaults. */
    static Statement proxy(Class<?> type, Random random) {
        if (!type.isInterface() || !Modifier.isPublic(type.getModifiers()) || type.isSealed() || type.isAnnotation()) return null;
        ClassLoader loader = type.getClassLoader() == null ? Values.class.getClassLoader() : type.getClassLoader();
        boolean yes = random.nextBoolean();
        String name = type.getCanonicalName();
        Method only = functional(type);
        if (only != null && only.getTypeParameters().length == 0) {
            StringBuilder names = new StringBuilder();
            for (int i = 0; i < only.getParameterCount(); i++) names.append(i == 0 ? "" : ", ").append((char) ('p' + i));
            String value = text(answer(only.getReturnType(), yes), only.getReturnType());
            String body = only.getReturnType() == void.class ? "{}" : value;
            if (body != null) {
                return Statement.expression(type, "(" + name + ") (" + names + ") -> " + body, () -> answering(loader, type, yes));
            }
        }
        String source = "(" + name + ") answering(" + name + ".class, " + yes + ")";
        return Statement.expression(type, source, () -> answering(loader, type, yes));
    }

    private static Object answering(ClassLoader loader, Class<?> type, boolean yes) {
        return Proxy.newProxyInstance(loader, new Class<?>[] {type}, (self, method, args) -> {
            if (method.getName().equals("equals") && method.getParameterCount() == 1) return self == args[0];
            if (method.getName().equals("hashCode") && method.getParameterCount() == 0) return 1;
            if (method.getName().equals("toString") && method.getParameterCount() == 0) return type.getSimpleName();
            return answer(method.getReturnType(), yes);
        });
    }

    /** The one method without a body. */
    private static Method functional(Class<?> type) {
        Method only = null;
        for (Method method : type.getMethods()) {
            if (!Modifier.isAbstract(method.getModifiers()) || isOfObject(method)) continue;
            if (only != null) return null;
            only = method;
        }
        return only;
    }

    private static boolean isOfObject(Method method) {
        try {
            Object.class.getMethod(method.getName(), method.getParameterTypes());
            return true;
        } catch (NoSuchMethodException none) {
            return false;
        }
    }

    private static Object answer(Class<?> type, boolean yes) {
        if (type == boolean.class || type == Boolean.class) return yes;
        if (type == String.class || type == Object.class) return yes ? "a" : null;
        if (!type.isPrimitive() || type == void.class) return null;
        Object zero = Array.get(Array.newInstance(type, 1), 0);
        return zero;
    }

    private static String text(Object value, Class<?> type) {
        if (value == null) return "null";
        if (value instanceof String) return "\"" + value + "\"";
        if (type == char.class) return "'\\0'";
        if (type == byte.class || type == short.class) return "(" + type + ") 0";
        return value.toString();
    }
}
