import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.Properties;

/** Two threads parse a date by a format for the first time in the life of the database's classes: the cache of tokens is filled meanwhile. */
public class H2Dates {
    public static void main(String[] arguments) throws Exception {
        URL library = Class.forName("org.h2.Driver").getProtectionDomain().getCodeSource().getLocation();
        Rounds.race(20, 2, number -> {
            // The cache is static, so each round has classes of its own.
            ClassLoader loader = new URLClassLoader(new URL[] {library}, ClassLoader.getPlatformClassLoader());
            Driver driver = (Driver) loader.loadClass("org.h2.Driver").getDeclaredConstructor().newInstance();
            return new Runnable[] {parse(driver), parse(driver)};
        });
    }

    private static Runnable parse(Driver driver) throws SQLException {
        Connection connection = driver.connect("jdbc:h2:mem:", new Properties());
        return () -> {
            try {
                connection.createStatement().executeQuery("SELECT TO_DATE('2020-02-03 04:05', 'YYYY-MM-DD HH24:MI')");
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        };
    }
}
