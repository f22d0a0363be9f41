import java.io.PrintWriter;
import java.util.logging.Logger;
import javax.sql.ConnectionPoolDataSource;
import javax.sql.PooledConnection;
import org.apache.commons.dbcp2.datasources.SharedPoolDataSource;

/** Data sources are made and closed by two threads: closing takes them out of the map over which making them iterates, without its lock. */
public class DbcpInstancesRepaired {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            Runnable use = () -> {
                try {
                    for (int i = 0; i < 5; i++) {
                        SharedPoolDataSource source = new SharedPoolDataSource();
                        source.setConnectionPoolDataSource(new None());
                        source.close();
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            };
            return new Runnable[] {use, use};
        });
    }

    static final class None implements ConnectionPoolDataSource {
        @Override
        public PooledConnection getPooledConnection() {
            return null;
        }

        @Override
        public PooledConnection getPooledConnection(String user, String password) {
            return null;
        }

        @Override
        public PrintWriter getLogWriter() {
            return null;
        }

        @Override
        public void setLogWriter(PrintWriter writer) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() {
            return null;
        }
    }
}
