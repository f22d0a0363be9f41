import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The end of a field's name says what is to be known of it, whoever uses these classes. */
public class Rules {
    static int countedReadOnly;
    static int laterShared;
    static int elsewhereShared;

    static {
        countedReadOnly = 3;
    }

    static void later() {
        laterShared = 1;
    }

    static class Elsewhere {
        static {
            elsewhereShared = 1;
        }
    }

    static class Made {
        int fixedReadOnly;
        int[] heldReadOnly = new int[2];

        Made(int n) {
            fixedReadOnly = n;
            heldReadOnly[0] = n;
        }
    }

    static class Delegating extends Made {
        int ownReadOnly;

        Delegating() {
            this(4);
        }

        Delegating(int n) {
            super(n);
            ownReadOnly = fixedReadOnly;
        }
    }

    static class Branching {
        int eitherReadOnly;

        Branching(boolean first) {
            if (first) eitherReadOnly = 1;
            else eitherReadOnly = 2;
        }
    }

    static class Leaking {
        static Leaking lastShared;
        int earlyReadOnly;
        int lateShared;

        Leaking() {
            earlyReadOnly = 1;
            lastShared = this;
            lateShared = 2;
        }
    }

    static class Looping {
        int loopedShared;

        Looping() {
            for (int i = 0; i < 2; i++) {
                loopedShared = i;
                hear(this);
            }
        }
    }

    static void hear(Object o) {}

    abstract static class Telling {
        Telling() {
            hear(this);
        }
    }

    static class Told extends Telling {
        int afterShared;

        Told() {
            afterShared = 1;
        }
    }

    static class Captured {
        int capturedShared;
        Runnable task;

        Captured() {
            Runnable first = () -> System.out.println(capturedShared);
            task = first;
            capturedShared = 1;
        }
    }

    static class OfThread extends Thread {
        int unknownShared;

        OfThread() {
            unknownShared = 1;
        }
    }

    static class Set {
        int setShared;

        void set(int n) {
            setShared = n;
        }
    }

    static class Reached {
        int foreignShared;
    }

    static class Writer {
        void write(Reached of) {
            of.foreignShared = 1;
        }
    }

    static class Above {
        int inheritedShared;
    }

    static class Below extends Above {
        Below() {
            inheritedShared = 1;
        }
    }

    static class Swapped {
        private static final VarHandle HANDLE;
        volatile int handledShared = 1;

        static {
            try {
                HANDLE = MethodHandles.lookup().findVarHandle(Swapped.class, "handledShared", int.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
    }

    static class Copied implements Cloneable {
        int copiedShared = 1;

        Copied copy() throws CloneNotSupportedException {
            Copied other = (Copied) clone();
            other.copiedShared = 2;
            return other;
        }
    }
}
