import io.netty.util.AbstractConstant;
import io.netty.util.ConstantPool;

/** Two threads make a constant of one name: {@code newInstance} asks whether there is one, and makes it, under the lock twice. */
public class NettyConstants {
    public static void main(String[] arguments) throws Exception {
        ConstantPool<Name> pool = new ConstantPool<>() {
            @Override
            protected Name newConstant(int id, String name) {
                return new Name(id, name);
            }
        };
        Rounds.race(1500, 2, number -> {
            Runnable make = () -> pool.newInstance("name-" + number);
            return new Runnable[] {make, make};
        });
    }

    static final class Name extends AbstractConstant<Name> {
        Name(int id, String name) {
            super(id, name);
        }
    }
}
