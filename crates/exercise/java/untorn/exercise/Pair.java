package untorn.exercise;

import java.lang.reflect.Method;
import java.util.Arrays;

/** Two methods of a class: the one that may be torn, and the one that may tear it. */
record Pair(int number, Class<?> type, Method torn, Method by) {
    /** Which argument of the first may be the object that the second is called on; -1 if none may. */
    int sharedArgument() {
        Class<?>[] parameters = torn.getParameterTypes();
        for (int i = 0; i < parameters.length; i++) {
            if (parameters[i].isAssignableFrom(type) && !parameters[i].isAssignableFrom(String.class)
                    || parameters[i] == CharSequence.class && CharSequence.class.isAssignableFrom(type)) return i;
        }
        return -1;
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
