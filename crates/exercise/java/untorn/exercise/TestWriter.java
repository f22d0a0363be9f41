package untorn.exercise;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import untorn.exercise.Sequence.Arg;
import untorn.exercise.Sequence.Statement;

/** A visible tear as a JUnit 5 test: it races the two calls, and fails if an outcome is that of no serial order. */
final class TestWriter {
    /** Names of the platform and of JUnit with their packages, and others between marks, which become imports. */
    private static final Pattern QUALIFIED =
            Pattern.compile("\\b(java(?:\\.[a-z]\\w*)+|org\\.junit(?:\\.[a-z]\\w*)+)\\.([A-Z]\\w*)|<<([^<>]*)\\.(\\w+)>>");
    /** Words that class names become when they begin with a small letter. */
    private static final Set<String> KEYWORDS = Set.of("boolean", "byte", "case", "char", "class", "default", "double", "enum",
            "final", "float", "import", "int", "interface", "long", "native", "new", "package", "short", "switch", "void");
    private static final int LEAST_ROUNDS = 4_000, MOST_ROUNDS = 300_000, SECONDS = 10;

    private final Search.Visible visible;
    private final Case of;
    private final String name;
    private final double rate;
    private final long seed;
    private final Map<Integer, String> names = new HashMap<>();
    /** Variables that several methods of the test use. */
    private final Set<Integer> fields = new TreeSet<>();

    TestWriter(Search.Visible visible, String name, double rate, long seed) {
        this.visible = visible;
        this.of = visible.of();
        this.name = name;
        this.rate = rate;
        this.seed = seed;
    }

    static String name(Case of) {
        return of.pair.type().getSimpleName() + capital(of.pair.torn().getName()) + "TornBy"
                + capital(of.pair.by().getName()) + "Test";
    }

    private static String capital(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }

    String write() {
        chooseNames();
        String simple = of.pair.type().getSimpleName();
        String torn = of.pair.torn().getName(), by = of.pair.by().getName();
        // Not by their own names, which those of the test or of every object may be.
        String first = "call" + capital(torn), second = "call" + capital(by) + (torn.equals(by) ? "Too" : "");
        String home = of.pair.type().getPackageName();
        boolean isOwn = home.isEmpty() || home.startsWith("java.") || home.startsWith("javax.");
        boolean hasPlan = !isOwn || home.isEmpty();
        long rounds = Math.max(LEAST_ROUNDS, Math.min(MOST_ROUNDS, Math.round(rate * 60)));
        StringBuilder body = new StringBuilder();
        line(body, 0, "/**");
        line(body, 0, " * {@code " + simple + "." + torn + "} can be torn by {@code " + by + "} in another thread:");
        line(body, 0, " * callers then see what neither order of the two calls gives.");
        line(body, 0, " *");
        for (int part : visible.parts()) {
            line(body, 0, " * <br>" + comment(of.label(part)) + ": " + comment(visible.seen().parts().get(part))
                    + ", in turn only " + comment(visible.tornFirst().parts().get(part))
                    + either(visible.tornFirst().parts().get(part), visible.tornLast().parts().get(part)));
        }
        if (hasPlan) {
            line(body, 0, " *");
            line(body, 0, " * <p>" + (rate == 0 ? "Races alone hardly show it" : "Races alone show it about once in " + Math.round(rate) + " rounds")
                    + "; held up where {@code " + name + ".plan.json} says,");
            line(body, 0, " * threads show it at once: {@code untorn run --plan " + name + ".plan.json -- <command of the test>}.");
        }
        line(body, 0, " *");
        line(body, 0, " * <p>Made by {@code untorn exercise --seed " + seed + "}.");
        line(body, 0, " */");
        line(body, 0, "@SuppressWarnings({\"rawtypes\", \"unchecked\"})");
        line(body, 0, "class " + name + " {");
        for (int field : fields) line(body, 1, "private " + type(of.state.statements.get(field).type()) + " " + names.get(field) + ";");
        body.append('\n');
        line(body, 1, "@org.junit.jupiter.api.Test");
        line(body, 1, "void " + torn + "IsNotTornBy" + capital(by) + "() throws Exception {");
        line(body, 2, "java.util.Set<String> serial = new java.util.HashSet<>();");
        line(body, 2, "setUp();");
        line(body, 2, "serial.add(outcome(" + first + "(), " + second + "()));");
        line(body, 2, "setUp();");
        line(body, 2, "Object second = " + second + "();");
        line(body, 2, "serial.add(outcome(" + first + "(), second));");
        line(body, 2, "java.util.concurrent.ExecutorService threads = java.util.concurrent.Executors.newFixedThreadPool(2);");
        line(body, 2, "try {");
        line(body, 3, "long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(" + SECONDS + ");");
        line(body, 3, "for (int round = 0; round < " + rounds + " && System.nanoTime() < end; round++) {");
        line(body, 4, "String seen = race(threads, round % 801 - 400);");
        line(body, 4, "org.junit.jupiter.api.Assertions.assertTrue(serial.contains(seen), () -> \"torn: \" + seen + \", in turn only \" + serial);");
        line(body, 3, "}");
        line(body, 2, "} finally {");
        line(body, 3, "threads.shutdownNow();");
        line(body, 2, "}");
        line(body, 1, "}");
        body.append('\n');
        line(body, 1, "/** The state in which both threads begin. */");
        line(body, 1, "private void setUp() throws Exception {");
        for (int i = 0; i < of.state.size(); i++) line(body, 2, statement(i));
        line(body, 1, "}");
        body.append('\n');
        call(body, first, of.torn, isOpaque(0));
        call(body, second, of.by, isOpaque(1));
        line(body, 1, "/** What callers can see. */");
        line(body, 1, "private String outcome(Object first, Object second) throws Exception {");
        line(body, 2, "return java.util.Arrays.deepToString(new Object[] {" + parts() + "});");
        line(body, 1, "}");
        body.append('\n');
        line(body, 1, "/** Both calls at once; one of them begins a little later. */");
        line(body, 1, "private String race(java.util.concurrent.ExecutorService threads, int head) throws Exception {");
        line(body, 2, "setUp();");
        line(body, 2, "java.util.concurrent.atomic.AtomicInteger ready = new java.util.concurrent.atomic.AtomicInteger();");
        line(body, 2, "java.util.concurrent.Future<Object> first = threads.submit(() -> {");
        line(body, 3, "meet(ready, head);");
        line(body, 3, "return " + first + "();");
        line(body, 2, "});");
        line(body, 2, "java.util.concurrent.Future<Object> second = threads.submit(() -> {");
        line(body, 3, "meet(ready, -head);");
        if (rate == 0 || hasPlan) line(body, 3, "if (head % 4 == 0) Thread.sleep(2); // Something may hold the first one up.");
        line(body, 3, "return " + second + "();");
        line(body, 2, "});");
        line(body, 2, "return outcome(first.get(10, java.util.concurrent.TimeUnit.SECONDS), second.get(10, java.util.concurrent.TimeUnit.SECONDS));");
        line(body, 1, "}");
        body.append('\n');
        line(body, 1, "private static void meet(java.util.concurrent.atomic.AtomicInteger ready, int turns) {");
        line(body, 2, "ready.incrementAndGet();");
        line(body, 2, "for (int spins = 0; ready.get() < 2; spins++) if (spins > 1000) Thread.yield();");
        line(body, 2, "for (int i = 0; i < turns; i++) Thread.onSpinWait();");
        line(body, 1, "}");
        if (body.indexOf("answering(") >= 0) answering(body);
        line(body, 0, "}");
        String own = isOwn ? "" : home;
        TreeSet<String> imports = new TreeSet<>();
        String text = shortened(body.toString(), own, imports);
        StringBuilder whole = new StringBuilder();
        if (!own.isEmpty()) whole.append("package ").append(own).append(";\n\n");
        for (String each : imports) whole.append("import ").append(each).append(";\n");
        return whole.append(imports.isEmpty() ? "" : "\n").append(text).toString();
    }

    /** An interface whose methods answer defaults. */
    private static void answering(StringBuilder body) {
        body.append('\n');
        line(body, 1, "private static Object answering(Class<?> type, boolean yes) {");
        line(body, 2, "return java.lang.reflect.Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {");
        line(body, 3, "Class<?> result = method.getReturnType();");
        line(body, 3, "if (method.getName().equals(\"equals\")) return self == args[0];");
        line(body, 3, "if (method.getName().equals(\"hashCode\")) return 1;");
        line(body, 3, "if (result == boolean.class) return yes;");
        line(body, 3, "if (result == String.class || result == Object.class) return yes ? \"a\" : null;");
        line(body, 3, "if (!result.isPrimitive() || result == void.class) return null;");
        line(body, 3, "return java.lang.reflect.Array.get(java.lang.reflect.Array.newInstance(result, 1), 0);");
        line(body, 2, "});");
        line(body, 1, "}");
    }

    private static String either(String first, String last) {
        return first.equals(last) ? "" : " or " + comment(last);
    }

    private static String comment(String text) {
        String readable = Outcome.readable(text);
        String shown = readable.length() > 80 ? readable.substring(0, 80) + "…" : readable;
        return shown.replace("*/", "* /").replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;").replace("\\", "&#92;")
                .replaceAll("\\p{Cntrl}", " ");
    }

    private static void line(StringBuilder body, int depth, String text) {
        body.append("    ".repeat(depth)).append(text).append('\n');
    }

    /** One of the two calls; an exception is a result like others. */
    private void call(StringBuilder body, String name, Statement call, boolean isOpaque) {
        line(body, 1, "private Object " + name + "() {");
        line(body, 2, "try {");
        boolean isVoid = call.type() == void.class;
        // Of an object that says nothing of itself it only matters that there is one.
        String end = isOpaque ? " == null ? null : \"" + Outcome.RETURNED + "\";" : ";";
        line(body, 3, (isVoid ? "" : "return ") + expression(call) + end);
        if (isVoid) line(body, 3, "return null;");
        line(body, 2, "} catch (Exception thrown) {");
        line(body, 3, "return thrown.getClass().getName();");
        line(body, 2, "}");
        line(body, 1, "}");
        body.append('\n');
    }

    private boolean isOpaque(int part) {
        return visible.seen().parts().get(part).equals(Outcome.RETURNED) || visible.tornFirst().parts().get(part).equals(Outcome.RETURNED)
                || visible.tornLast().parts().get(part).equals(Outcome.RETURNED);
    }

    private String parts() {
        List<String> parts = new ArrayList<>();
        for (int part : visible.parts()) {
            parts.add(part == 0 ? "first" : part == 1 ? "second" : expression(of.queries.get(part - 2)));
        }
        return String.join(", ", parts);
    }

    // ---- statements -----------------------------------------------------------------------------------------------

    private void chooseNames() {
        List<Statement> users = new ArrayList<>(List.of(of.torn, of.by));
        for (int part : visible.parts()) if (part >= 2) users.add(of.queries.get(part - 2));
        Set<String> taken = new HashSet<>(List.of("first", "second", "threads", "ready", "head", "serial", "seen", "round"));
        for (int i = 0; i < of.state.size(); i++) {
            int variable = i;
            if (users.stream().anyMatch(call -> call.uses(variable))) fields.add(i);
            boolean isOther = i == of.torn.receiver() && i != of.shared;
            String plain = of.state.statements.get(i).type().getSimpleName().replace("[]", "s");
            String wanted = i == of.shared ? "shared" : isOther ? "other"
                    : Character.toLowerCase(plain.charAt(0)) + plain.substring(1);
            String free = KEYWORDS.contains(wanted) ? wanted + "s" : wanted;
            for (int n = 2; !taken.add(free); n++) free = wanted + n;
            names.put(i, free);
        }
    }

    private String statement(int at) {
        Statement statement = of.state.statements.get(at);
        String value = (statement.needsCast() ? "(" + type(statement.type()) + ") " : "") + expression(statement) + ";";
        boolean isUsed = false;
        for (int i = at + 1; i < of.state.size(); i++) isUsed |= of.state.statements.get(i).uses(at);
        if (fields.contains(at)) return names.get(at) + " = " + value;
        boolean isCall = statement.called() instanceof Method;
        if (statement.times() > 1) return "for (int i = 0; i < " + statement.times() + "; i++) " + value;
        if (!isUsed && isCall) return value;
        return type(statement.type()) + " " + names.get(at) + " = " + value;
    }

    private String expression(Statement statement) {
        Executable called = statement.called();
        if (called == null && statement.source() != null) return statement.source();
        if (called == null) {
            List<String> elements = new ArrayList<>();
            for (Arg arg : statement.args()) elements.add(arg.variable() >= 0 ? names.get(arg.variable()) : arg.source());
            return "new " + type(statement.type()) + " {" + String.join(", ", elements) + "}";
        }
        StringBuilder args = new StringBuilder();
        Class<?>[] types = called.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            Arg arg = statement.args().get(i);
            Class<?> natural = arg.variable() >= 0 ? of.state.statements.get(arg.variable()).type() : primitive(arg.value().getClass());
            String text = arg.variable() >= 0 ? names.get(arg.variable()) : arg.source();
            boolean casts = natural != types[i] && isOverloaded(called);
            args.append(i == 0 ? "" : ", ").append(casts ? "(" + type(types[i]) + ") " : "").append(text);
        }
        if (called instanceof Constructor<?>) return "new " + type(called.getDeclaringClass()) + "(" + args + ")";
        String on = Modifier.isStatic(called.getModifiers())
                ? type(called.getDeclaringClass()) : names.get(statement.receiver());
        return on + "." + called.getName() + "(" + args + ")";
    }

    private static Class<?> primitive(Class<?> type) {
        return java.lang.invoke.MethodType.methodType(type).unwrap().returnType();
    }

    private static boolean isOverloaded(Executable called) {
        Executable[] all = called instanceof Method ? called.getDeclaringClass().getMethods() : called.getDeclaringClass().getConstructors();
        int count = 0;
        for (Executable each : all) {
            if (each.getName().equals(called.getName()) && each.getParameterCount() == called.getParameterCount()) count++;
        }
        return count > 1;
    }

    /** The name of a class, of which its package and outermost class become an import. */
    private static String type(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) element = element.getComponentType();
        Class<?> outermost = Maker.outermost(element);
        String name = type.getCanonicalName(), outer = outermost.getCanonicalName();
        return outermost.getPackageName().isEmpty() || outermost.isPrimitive() ? name : "<<" + outer + ">>" + name.substring(outer.length());
    }

    /** With imports instead of names with packages. */
    private static String shortened(String text, String own, Set<String> imports) {
        Map<String, String> taken = new HashMap<>();
        Matcher matcher = QUALIFIED.matcher(text);
        StringBuilder out = new StringBuilder();
        while (matcher.find()) {
            boolean isMarked = matcher.group(3) != null;
            String home = matcher.group(isMarked ? 3 : 1), simple = matcher.group(isMarked ? 4 : 2);
            String before = taken.putIfAbsent(simple, home);
            boolean isShort = before == null || before.equals(home);
            if (isShort && !home.equals("java.lang") && !home.equals(own)) imports.add(home + "." + simple);
            matcher.appendReplacement(out, Matcher.quoteReplacement(isShort ? simple : home + "." + simple));
        }
        return matcher.appendTail(out).toString();
    }
}
