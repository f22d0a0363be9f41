package whole;

import schedule.Pause;

/** Whole: all transitions under one lock, with private steps. */
public class StateMachine {
    static class Door {
        private enum State { OPEN, SHUT, LOCKED }
        private State state = State.OPEN;
        private int uses;
        synchronized boolean lock() {
            if (state == State.OPEN) {
                go(State.SHUT);
            }
            Pause.here();
            if (state == State.SHUT) {
                go(State.LOCKED);
                return true;
            }
            return false;
        }
        synchronized boolean open() {
            if (state == State.LOCKED) {
                return false;
            }
            go(State.OPEN);
            return true;
        }
        private void go(State next) {
            state = next;
            uses++;
        }
    }

    public static void main(String[] args) {
        Door c = new Door();
        Pause.race(() -> c.lock(), () -> c.open());
    }
}
