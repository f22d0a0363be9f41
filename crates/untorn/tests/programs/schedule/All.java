package schedule;

/** Runs the programs that are named, one after the other. */
public final class All {
    private All() {}

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Object none = new String[0];
            Class.forName(name).getMethod("main", String[].class).invoke(null, none);
        }
    }
}
