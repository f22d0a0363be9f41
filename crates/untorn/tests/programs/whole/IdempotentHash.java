package whole;

import schedule.Pause;

/** Whole: a hash that every thread computes alike. */
public class IdempotentHash {
    static class Name {
        private final String text = "name";
        private int hash;
        int hash() {
            int known = hash;
            if (known == 0) {
                known = text.length() * 31 + 7;
                hash = known;
            }
            return known;
        }
    }

    public static void main(String[] args) {
        Name c = new Name();
        Pause.race(() -> c.hash(), () -> c.hash());
    }
}
