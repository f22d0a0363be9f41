/** Loops; the number in a method's name says how many polls it has. */
public final class Polls {
    private final int[] cells = new int[8];
    private int changing;

    int alone_1() {
        int sum = 0;
        for (int i = 0; i < 8; i++) sum += cells[i];
        return sum;
    }

    int inner_1() {
        int sum = 0;
        for (int k = 0; k < 8; k++) {
            for (int i = 0; i < 8; i++) sum += cells[i];
        }
        return sum;
    }

    int innermost_2() {
        int sum = 0;
        for (int k = 0; k < 8; k++) {
            for (int j = 0; j < 8; j++) {
                for (int i = 0; i < 8; i++) sum += cells[i];
            }
        }
        return sum;
    }

    int field_2() {
        int sum = 0;
        for (int k = 0; k < 8; k++) {
            for (int i = 0; i < 8; i++) sum += cells[i] + changing;
        }
        return sum;
    }

    int call_2() {
        int sum = 0;
        for (int k = 0; k < 8; k++) {
            for (int i = 0; i < 8; i++) sum += cells[i] + alone_1();
        }
        return sum;
    }

    public static void main(String[] arguments) {
        Polls polls = new Polls();
        System.out.println(polls.inner_1() + polls.innermost_2() + polls.field_2() + polls.call_2());
    }
}
