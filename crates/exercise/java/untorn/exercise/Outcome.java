package untorn.exercise;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** What callers can see of a try: what the two calls gave, and what queries say afterwards; each as text. */
record Outcome(List<String> parts) {
    /** Says which object it is instead of what it holds. */
    private static final Pattern IDENTITY = Pattern.compile("@[0-9a-f]{3,}|\\$\\$Lambda|\\$Proxy\\d");
    private static final int LONGEST = 4000;

    /** A part that says nothing, and a call that gave some object of which nothing can be said. */
    static final String NOTHING = "\0", RETURNED = "returned";

    /** What a call gave: of some objects only that there is one. */
    static String shown(Object value) {
        String text = show(value);
        return text.equals(NOTHING) ? RETURNED : text;
    }

    static String show(Object value) {
        if (value instanceof Throwable thrown) return thrown.getClass().getName();
        String text;
        try {
            text = Arrays.deepToString(new Object[] {value});
        } catch (RuntimeException | StackOverflowError thrown) {
            return thrown.getClass().getName();
        }
        text = text.substring(1, text.length() - 1);
        return IDENTITY.matcher(text).find() || text.length() > LONGEST ? NOTHING : text;
    }

    /** With a letter that nobody sees, which buffers are full of where nothing was put, as Java writes it. */
    static String readable(String text) {
        return text.replace("\0", "\\0");
    }

    /** Only some of the parts. */
    Outcome only(List<Integer> kept) {
        List<String> some = new ArrayList<>();
        for (int part : kept) some.add(parts.get(part));
        return new Outcome(some);
    }

    @Override
    public String toString() {
        return parts.toString();
    }
}
