import org.apache.shiro.session.mgt.DefaultSessionContext;
import org.apache.shiro.session.mgt.DefaultSessionManager;

/** Two threads start the first sessions of a manager: both find no scheduler that looks for expired ones, and both make one. */
public class ShiroValidation {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(60, 2, number -> {
            DefaultSessionManager manager = new DefaultSessionManager();
            Runnable start = () -> manager.start(new DefaultSessionContext());
            return new Runnable[] {start, start};
        });
        // The schedulers have threads that would keep the program alive.
        System.exit(0);
    }
}
