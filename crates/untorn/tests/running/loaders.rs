//! Classes of one name from several loaders: their static fields are different locations, and one location has one id however it is named.

use super::program::Program;
use super::{findings, text};

/// Main holds `Twin.torn` of one loader open while another thread writes the count that `Friend` of a second loader sees.
/// `Friend` names the field through a subclass that inherits it.
/// Main is not watched, so nothing but the static field orders the threads inside of the region.
const LOADERS: &str = r#"
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Set;

public class Loaders {
    static volatile int step;

    static Method method(Class<?> owner, String name, Class<?>... types) throws NoSuchMethodException {
        Method method = owner.getDeclaredMethod(name, types);
        method.setAccessible(true);
        return method;
    }

    static void reach(int wanted) { 
        long end = System.nanoTime() + 20_000_000_000L;
        while (step < wanted && System.nanoTime() < end) Thread.onSpinWait();
     }

    /** Defines some classes itself, and leaves others to the loader above. */
    static class Own extends ClassLoader {
        private final Set<String> own;

        Own(ClassLoader above, Set<String> own) {
            super(above);
            this.own = own;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!own.contains(name)) return super.loadClass(name, resolve);
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) return known;
                try (InputStream in = Loaders.class.getResourceAsStream(name + ".class")) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (java.io.IOException broken) {
                    throw new ClassNotFoundException(name, broken);
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Set<String> all = Set.of("Loaders$Twin", "Loaders$Sub", "Loaders$Friend");
        Set<String> friend = Set.of("Loaders$Friend");
        ClassLoader app = Loaders.class.getClassLoader(), one = new Own(app, all);
        ClassLoader other = switch (arguments[0]) {
            case "one" -> one;
            case "apart" -> new Own(app, all);
            case "child" -> new Own(one, all);
            case "delegating" -> new Own(one, friend);
            default -> throw new IllegalArgumentException();
        };
        Class<?> twin = one.loadClass("Loaders$Twin");
        // Prepared and used by its own loader before the other one has found it.
        method(twin, "add").invoke(null);
        Class<?> friendly = other.loadClass("Loaders$Friend");
        Thread thread = new Thread(() -> {
            reach(1);
            try {
                method(friendly, "add").invoke(null);
            } catch (ReflectiveOperationException broken) {
                throw new IllegalStateException(broken);
            }
            step = 2;
        });
        thread.start();
        Runnable between = () -> {
            step = 1;
            reach(2);
        };
        method(twin, "torn", Runnable.class).invoke(null, between);
        thread.join();
        System.out.println(method(twin, "get").invoke(null));
    }

    public static class Twin {
        public static int count;
        static volatile boolean shared = true;

        public static void torn(Runnable between) {
            int seen = count;
            between.run();
            count = seen + 1;
        }

        public static void add() { count += 5; }

        public static int get() { return count; }
    }

    public static class Sub extends Twin {}

    public static class Friend {
        public static void add() { Sub.count += 5; }
    }
}
"#;

fn torn(program: &Program, loaders: &str) -> Vec<String> {
    let run = program.watched_with(
        &[
            "run",
            "--with",
            "velodrome",
            "--format",
            "json",
            "--exclude",
            "Loaders",
            "--exclude",
            "Loaders$Own",
        ],
        &[loaders],
    );
    assert_eq!(
        text(&run.stdout).lines().next(),
        Some("6"),
        "{}",
        text(&run.stderr)
    );
    findings(&run)
}

#[test]
fn static_fields_of_two_loaders_classes_are_two_locations() {
    let program = Program::compile("Loaders", LOADERS);
    for (loaders, expected) in [
        ("one", vec!["torn torn observed"]),
        ("delegating", vec!["torn torn observed"]),
        ("apart", vec![]),
        ("child", vec![]),
    ] {
        assert_eq!(torn(&program, loaders), expected, "{loaders}");
    }
}
