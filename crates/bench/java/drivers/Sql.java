package drivers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/**
 * Bookings in a database: each thread has its own connection and its own accounts in tables that all share.
 * It commits, rolls back, asks for sums, and breaks a constraint now and then.
 */
final class Sql {
    private static final int ACCOUNTS = 50;

    private Sql() {}

    static void run(String url, int threads, int size) throws Exception {
        try (Connection owner = DriverManager.getConnection(url, "sa", "")) {
            try (Statement statement = owner.createStatement()) {
                statement.execute("CREATE TABLE ACCOUNT(ID INT PRIMARY KEY, BALANCE INT, NOTE VARCHAR(40))");
                statement.execute("CREATE TABLE ENTRY(ID INT PRIMARY KEY, ACCOUNT INT, AMOUNT INT)");
                statement.execute("CREATE INDEX BY_ACCOUNT ON ENTRY(ACCOUNT)");
                for (int i = 0; i < threads * ACCOUNTS; i++) {
                    statement.execute("INSERT INTO ACCOUNT VALUES(" + i + ", 0, 'account " + i + "')");
                }
            }
            Workers.print("thread", Workers.run(threads, index -> {
                try (Connection connection = DriverManager.getConnection(url, "sa", "")) {
                    return work(connection, index, size);
                }
            }));
            try (Statement statement = owner.createStatement()) {
                print(statement, "SELECT SUM(BALANCE), COUNT(*) FROM ACCOUNT");
                print(statement, "SELECT SUM(AMOUNT), COUNT(*) FROM ENTRY");
                print(statement, "SELECT COUNT(*), MAX(A.ID) FROM ACCOUNT A WHERE A.BALANCE <> "
                    + "(SELECT COALESCE(SUM(E.AMOUNT), 0) FROM ENTRY E WHERE E.ACCOUNT = A.ID)");
            }
        }
    }

    private static long work(Connection connection, int index, int size) throws SQLException {
        connection.setAutoCommit(false);
        Random random = new Random(index);
        long sum = 0;
        try (PreparedStatement book =
                connection.prepareStatement("UPDATE ACCOUNT SET BALANCE = BALANCE + ? WHERE ID = ?");
            PreparedStatement enter = connection.prepareStatement("INSERT INTO ENTRY VALUES(?, ?, ?)");
            PreparedStatement ask = connection.prepareStatement(
                "SELECT A.BALANCE, A.NOTE, SUM(E.AMOUNT), COUNT(E.ID) FROM ACCOUNT A, ENTRY E "
                    + "WHERE E.ACCOUNT = A.ID AND A.ID = ? GROUP BY A.BALANCE, A.NOTE")) {
            for (int i = 0; i < size; i++) {
                int account = index * ACCOUNTS + random.nextInt(ACCOUNTS);
                int amount = random.nextInt(1000) - 300;
                book.setInt(1, amount);
                book.setInt(2, account);
                sum += book.executeUpdate();
                enter.setInt(1, index * 10_000_000 + i);
                enter.setInt(2, account);
                enter.setInt(3, amount);
                sum += enter.executeUpdate();
                if (i % 7 == 3) {
                    connection.rollback();
                } else {
                    connection.commit();
                }
                if (i % 4 == 0) {
                    ask.setInt(1, account);
                    try (ResultSet row = ask.executeQuery()) {
                        while (row.next()) {
                            sum = Workers.mix(sum, row.getLong(1) + row.getLong(3));
                            sum = Workers.mix(sum, row.getString(2).hashCode() + row.getInt(4));
                        }
                    }
                    connection.commit();
                }
                if (i % 50 == 49) {
                    sum = Workers.mix(sum, twice(enter, index * 10_000_000));
                    connection.rollback();
                }
            }
        }
        return sum;
    }

    /** Enters what is there already, and says how that was refused. */
    private static long twice(PreparedStatement enter, int id) throws SQLException {
        enter.setInt(1, id);
        try {
            enter.executeUpdate();
            throw new IllegalStateException("entered twice: " + id);
        } catch (SQLException refused) {
            return Workers.mix(refused.getErrorCode(), Workers.origin(refused));
        }
    }

    private static void print(Statement statement, String query) throws SQLException {
        try (ResultSet row = statement.executeQuery(query)) {
            row.next();
            System.out.println(query + ": " + row.getLong(1) + " " + row.getLong(2));
        }
    }
}
