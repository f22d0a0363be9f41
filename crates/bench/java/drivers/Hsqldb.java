package drivers;

/** Bookings in an HSQLDB database in memory, whose own logger would write to standard error with times. */
public final class Hsqldb {
    public static void main(String[] arguments) throws Exception {
        System.setProperty("hsqldb.reconfig_logging", "false");
        Sql.run("jdbc:hsqldb:mem:bank", Workers.number(arguments, 0), Workers.number(arguments, 1));
    }
}
