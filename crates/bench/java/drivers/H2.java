package drivers;

/** Bookings in an H2 database in memory. */
public final class H2 {
    public static void main(String[] arguments) throws Exception {
        Sql.run("jdbc:h2:mem:bank;LOCK_TIMEOUT=600000", Workers.number(arguments, 0), Workers.number(arguments, 1));
    }
}
