/** Starts another JVM with the program of its arguments, and exits with its status. */
public class Parent {
    static int started;

    public static void main(String[] arguments) throws Exception {
        String[] command = new String[arguments.length + 3];
        command[0] = System.getProperty("java.home") + "/bin/java";
        command[1] = "-cp";
        command[2] = System.getProperty("java.class.path");
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        started++;
        System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
    }
}
