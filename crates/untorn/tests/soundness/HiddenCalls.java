import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** An application whose threads run what no call names: a method by its handle, and one that serialization calls. */
public class HiddenCalls {
    static class Shared {
        private int called, written, plain;

        private void call() {
            called++;
        }

        private void write() {
            written++;
        }

        synchronized void calledBad() {
            called++;
            called++;
        }

        synchronized void writtenBad() {
            written++;
            written++;
        }

        synchronized void plainOk() {
            plain++;
            plain++;
        }
    }

    static class Message implements Serializable {
        private final transient Shared shared;

        Message(Shared shared) {
            this.shared = shared;
        }

        private void writeObject(ObjectOutputStream out) {
            shared.write();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Shared shared = new Shared();
        MethodType type = MethodType.methodType(void.class);
        MethodHandle handle = MethodHandles.lookup().findVirtual(Shared.class, "call", type);
        MethodHandle call = handle.bindTo(shared);
        Message message = new Message(shared);
        Thread thread = new Thread(() -> {
            try {
                call.invokeExact();
                new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(message);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
        thread.start();
        shared.calledBad();
        shared.writtenBad();
        shared.plainOk();
        thread.join();
    }
}
