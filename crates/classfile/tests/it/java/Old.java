import java.util.ArrayList;
import java.util.List;

/** Nothing that a class file of version 49 cannot hold. */
public class Old {
    static int count;
    long total;
    Object kept;
    final Object lock = new Object();

    Old(boolean flag) {
        this(flag ? new StringBuffer("a") : new StringBuffer("b").append(flag ? 1 : 2));
    }

    Old(StringBuffer text) {
        super();
        kept = text.toString();
    }

    long sum(int[] numbers) {
        long sum = 0;
        synchronized (lock) {
            for (int i = 0; i < numbers.length; i++) {
                try {
                    if (numbers[i] == 13) throw new IllegalStateException(kept.toString());
                    sum += numbers[i];
                } catch (IllegalStateException unlucky) {
                    sum -= unlucky.getMessage().length();
                } finally {
                    total += sum;
                }
            }
        }
        return sum;
    }

    Object pick(int n) {
        Object result;
        switch (n) {
            case 1: result = "one"; break;
            case 2: result = Integer.valueOf(n); break;
            case 3: result = new int[][] {{1}, {2, 3}}[1]; break;
            default: result = n > 3 ? (Object) new ArrayList() : new String[] {"x"};
        }
        count++;
        return result;
    }

    public static void main(String[] args) throws Exception {
        Old old = new Old(args.length == 0);
        System.out.println(old.sum(new int[] {1, 13, 5}) + " " + old.total + old.kept);
        for (int n = 0; n < 5; n++) System.out.println(old.pick(n).getClass().getName());
        System.out.println(count + (String) new Old(false).kept);
        List methods = new ArrayList();
        try {
            methods.add(Old.class.getDeclaredMethod("subroutine", new Class[] {int.class}).invoke(null, new Object[] {Integer.valueOf(20)}));
        } catch (NoSuchMethodException none) {
            methods.add("none");
        }
        System.out.println(methods);
    }
}
