package repaired;

import schedule.Pause;

/** Repaired: Session.nameLength is one step now; before: the session is closed between the question and the use. */
public class SessionCheck {
    static class Session {
        private String user;
        synchronized boolean isOpen() {
            return user != null;
        }
        synchronized void open(String who) {
            user = who;
        }
        synchronized void close() {
            user = null;
        }
        synchronized String user() {
            return user;
        }
        synchronized int nameLength() {
            if (isOpen()) {
                Pause.here();
                String who = user();
                return who == null ? -1 : who.length();
            }
            return 0;
        }
    }

    public static void main(String[] args) {
        Session c = new Session();
        c.open("u");
        Pause.race(() -> c.nameLength(), () -> c.close());
    }
}
