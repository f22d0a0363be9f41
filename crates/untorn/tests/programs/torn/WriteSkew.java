package torn;

import schedule.Pause;

/** Torn: Range.setLower: the bounds cross. */
public class WriteSkew {
    static class Range {
        int lower;
        int upper = 10;
        void setLower(int value) {
            if (value > upper) {
                throw new IllegalArgumentException();
            }
            Pause.here();
            lower = value;
        }
        void setUpper(int value) {
            if (value < lower) {
                throw new IllegalArgumentException();
            }
            upper = value;
        }
    }

    public static void main(String[] args) {
        Range c = new Range();
        Pause.race(() -> c.setLower(8), () -> { try { c.setUpper(5); } catch (IllegalArgumentException expected) { } });
    }
}
