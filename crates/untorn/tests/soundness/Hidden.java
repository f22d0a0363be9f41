import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;

/** Accesses that no call and no field instruction shows: the platform makes them, or a handle, a copy, a client. */
public class Hidden {
    public int seen;
    public final int[] elements = new int[1];

    public synchronized void seenBad() {
        seen++;
        seen++;
    }

    public synchronized void elementsBad() {
        elements[0]++;
        elements[0]++;
    }
}

class Wrapper {
    static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    /** A wrapper that does not know for which class and field it is asked. */
    static VarHandle handle(Class<?> of, String name) {
        try {
            return LOOKUP.findVarHandle(of, name, int.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}

class Written implements Serializable {
    private int x;

    private void writeObject(ObjectOutputStream out) throws IOException {
        x++;
    }

    public synchronized void twiceBad() {
        x++;
        x++;
    }
}

class Replaced implements Serializable {
    private int x;

    private Object writeReplace() {
        x++;
        return "";
    }

    public synchronized void twiceBad() {
        x++;
        x++;
    }
}

class Resolved implements Serializable {
    private static int x;

    private Object readResolve() {
        x++;
        return this;
    }

    public static synchronized void twiceBad() {
        x++;
        x++;
    }
}

class ReadBack implements Serializable {
    private static int count;
    private int x;
    private transient int y;

    private synchronized void writeObject(ObjectOutputStream out) throws IOException {
        out.writeInt(x);
        x++;
    }

    /** Nobody else knows the object yet. */
    private void readObject(ObjectInputStream in) throws IOException {
        count++;
        x = in.readInt();
        y = x;
    }

    public static synchronized void countBad() {
        count++;
        count++;
    }

    public synchronized void twiceOk() {
        x++;
        y++;
    }
}

class Handled {
    private static final VarHandle WRAPPED = Wrapper.handle(Handled.class, "wrapped");
    private static final MethodHandle SET, CALL;
    private int wrapped, set, called, reflected, plain;

    static {
        try {
            SET = MethodHandles.lookup().findSetter(Handled.class, "set", int.class);
            MethodType type = MethodType.methodType(void.class);
            CALL = MethodHandles.lookup().findVirtual(Handled.class, "call", type);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private void call() {
        called++;
    }

    public void hidden() throws Throwable {
        WRAPPED.getAndAdd(this, 1);
        SET.invokeExact(this, 1);
        CALL.invokeExact(this);
        Field field = Handled.class.getDeclaredField("reflected");
        field.setInt(this, 1);
    }

    public synchronized void wrappedBad() {
        wrapped++;
        wrapped++;
    }

    public synchronized void setBad() {
        set++;
        set++;
    }

    public synchronized void calledBad() {
        called++;
        called++;
    }

    public synchronized void reflectedBad() {
        reflected++;
        reflected++;
    }

    public synchronized void plainOk() {
        plain++;
        plain++;
    }
}

class Node {
    int n;
}

class CopyNode {
    int n;
}

class DeepNode {
    int n;
}

/** A copy that shares what its original guards by its own lock. */
class Copied implements Cloneable {
    private final CopyNode node = new CopyNode();

    public synchronized Copied copy() throws CloneNotSupportedException {
        return (Copied) clone();
    }

    public synchronized void twiceBad() {
        node.n++;
        node.n++;
    }
}

class CopiedDeep implements Cloneable {
    private DeepNode node = new DeepNode();

    public synchronized CopiedDeep copy() throws CloneNotSupportedException {
        CopiedDeep copy = (CopiedDeep) super.clone();
        copy.node = new DeepNode();
        return copy;
    }

    public synchronized void twiceOk() {
        node.n++;
        node.n++;
    }
}

/** Elements that are copied from one array to another. */
class Moved {
    private static final Node[] all = new Node[1];
    private final Node[] own = {new Node()};

    public synchronized void publish() {
        System.arraycopy(own, 0, all, 0, 1);
    }

    public synchronized void twiceBad() {
        own[0].n++;
        own[0].n++;
    }

    public static synchronized void allBad() {
        all[0].n++;
        all[0].n++;
    }
}

/** What clients pass of their own classes. */
class Asked {
    private int n;

    public synchronized void constantBad(Enum<?> constant) {
        n++;
        constant.toString();
        n++;
    }

    public synchronized void nameOk(Enum<?> constant) {
        n++;
        constant.name();
        n++;
    }
}
