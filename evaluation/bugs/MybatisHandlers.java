import org.apache.ibatis.type.JdbcType;
import org.apache.ibatis.type.TypeHandlerRegistry;

/** Two threads ask for the handler of an enum for the first time: one puts the map of its handlers there before it is filled. */
public class MybatisHandlers {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(200, 2, number -> {
            TypeHandlerRegistry registry = new TypeHandlerRegistry();
            Runnable ask = () -> registry.hasTypeHandler(Color.class, JdbcType.VARCHAR);
            return new Runnable[] {ask, ask};
        });
    }

    enum Color {
        RED,
        GREEN
    }
}
