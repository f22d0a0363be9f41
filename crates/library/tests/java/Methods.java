import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Of each class that a list names and this JDK or the class path has, prints what it is a subtype of, and all methods that can be called on it.
 * Those are public that anybody may call, and that no other class of the list has itself.
 */
public class Methods {
    public static void main(String[] arguments) throws Exception {
        List<String> names = Files.readAllLines(Path.of(arguments[0]));
        for (String name : names) {
            Class<?> type;
            try {
                type = Class.forName(name.replace('/', '.'), false, Methods.class.getClassLoader());
            } catch (ClassNotFoundException missing) {
                continue;
            }
            boolean known = Modifier.isPublic(type.getModifiers());
            System.out.println("class " + name + " " + (known ? "public" : "inside"));
            for (Constructor<?> made : type.getDeclaredConstructors()) print(made, "<init>", void.class, true);
            Set<Class<?>> above = new LinkedHashSet<>();
            collect(type, above);
            if (type.isInterface()) above.add(Object.class);
            for (Class<?> each : above) {
                String owner = each.getName().replace('.', '/');
                System.out.println("is " + name + " " + owner);
                boolean own = each == type || !names.contains(owner) && each != Object.class;
                for (Method method : each.getDeclaredMethods()) {
                    boolean inherited = each == type || !each.isInterface() || !Modifier.isStatic(method.getModifiers());
                    print(method, method.getName(), method.getReturnType(), own && inherited);
                }
            }
        }
    }

    static void collect(Class<?> type, Set<Class<?>> above) {
        if (type == null || !above.add(type)) return;
        collect(type.getSuperclass(), above);
        for (Class<?> each : type.getInterfaces()) collect(each, above);
    }

    static void print(Executable each, String name, Class<?> result, boolean own) {
        String descriptor = MethodType.methodType(result, each.getParameterTypes()).toMethodDescriptorString();
        boolean open = own && Modifier.isPublic(each.getModifiers()) && !each.isSynthetic();
        System.out.println((open ? "public " : "inside ") + name + " " + descriptor);
    }
}
