package compute;

/** A block cipher over an array, there and back: threads own slices, and share the key. */
public final class Cipher {
    static final class Key {
        private final int[] words = new int[32];

        Key(int seed) {
            int state = seed;
            for (int i = 0; i < words.length; i++) {
                state = state * 1664525 + 1013904223;
                words[i] = state;
            }
        }

        int word(int round) {
            return words[round];
        }
    }

    private final Key key = new Key(42);
    private final int[] plain, coded, back;

    Cipher(int blocks) {
        plain = new int[2 * blocks];
        coded = new int[2 * blocks];
        back = new int[2 * blocks];
        for (int i = 0; i < plain.length; i++) plain[i] = i * 0x9E3779B9;
    }

    private static int mix(int half, int word) {
        return (half << 4 ^ half >>> 5) + half ^ word;
    }

    void encode(int block) {
        int left = plain[2 * block], right = plain[2 * block + 1];
        for (int round = 0; round < 32; round += 2) {
            left += mix(right, key.word(round));
            right += mix(left, key.word(round + 1));
        }
        coded[2 * block] = left;
        coded[2 * block + 1] = right;
    }

    void decode(int block) {
        int left = coded[2 * block], right = coded[2 * block + 1];
        for (int round = 30; round >= 0; round -= 2) {
            right -= mix(left, key.word(round + 1));
            left -= mix(right, key.word(round));
        }
        back[2 * block] = left;
        back[2 * block + 1] = right;
    }

    boolean same() {
        return java.util.Arrays.equals(plain, back);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int threads = Team.threads(arguments), blocks = Team.size(arguments) * threads;
        Cipher cipher = new Cipher(blocks);
        for (int time = 0; time < 20; time++) {
            Team.run(threads, index -> {
                for (int block = index * (blocks / threads); block < (index + 1) * (blocks / threads); block++) cipher.encode(block);
                return 0;
            });
            Team.run(threads, index -> {
                for (int block = index * (blocks / threads); block < (index + 1) * (blocks / threads); block++) cipher.decode(block);
                return 0;
            });
        }
        System.out.println(cipher.same());
    }
}
