package untorn.exercise;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/** Two methods of a class: the one that may be torn, and the one that may tear it. */
record Pair(int number, Class<?> type, Method torn, Method by) {
    /** Which argument of a method may be the object that both calls use; -1 if none may. */
    int sharedArgument(Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        for (int i = 0; i < parameters.length; i++) {
            boolean isOwn = parameters[i] != Object.class && parameters[i].isAssignableFrom(type) && !parameters[i].isAssignableFrom(String.class);
            if (isOwn || parameters[i] == CharSequence.class && CharSequence.class.isAssignableFrom(type)) return i;
        }
        return -1;
    }

    /** Whether a method can be called without any object of the class. */
    boolean isAlone(Method method) {
        return Modifier.isStatic(method.getModifiers()) && sharedArgument(method) < 0;
    }

    /** What random choices for it depend on: not on which other pairs there are. */
    long hash() {
        return type.getName().hashCode() * 31L * 31 + torn.toString().hashCode() * 31L + by.toString().hashCode();
    }

    /** A public method by its name and descriptor. */
    static Method find(Class<?> type, String name, String descriptor) {
        for (Method method : Maker.publicMethods(type)) {
            if (method.getName().equals(name) && descriptor(method).equals(descriptor) && Maker.isCallable(method)) return method;
        }
        return null;
    }

    private static String descriptor(Method method) {
        StringBuilder text = new StringBuilder("(");
        Arrays.stream(method.getParameterTypes()).forEach(type -> text.append(type.descriptorString()));
        return text.append(")").append(method.getReturnType().descriptorString()).toString();
    }
}
