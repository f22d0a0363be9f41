package kernels;

/** Pointer-heavy: a search tree is filled, asked and thrown away, again and again. */
public final class Tree {
    static final class Node {
        final int key;
        Node left, right;
        int count;

        Node(int key) {
            this.key = key;
        }
    }

    private Node root;

    void add(int key) {
        if (root == null) {
            root = new Node(key);
        }
        Node at = root;
        while (at.key != key) {
            Node next = key < at.key ? at.left : at.right;
            if (next == null) {
                next = new Node(key);
                if (key < at.key) {
                    at.left = next;
                } else {
                    at.right = next;
                }
            }
            at = next;
        }
        at.count++;
    }

    int count(int key) {
        Node at = root;
        while (at != null && at.key != key) {
            at = key < at.key ? at.left : at.right;
        }
        return at == null ? 0 : at.count;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = Team.size(arguments);
        Team.run(arguments, index -> {
            long sum = 0;
            int number = index + 1;
            for (int round = 0; round < rounds; round++) {
                Tree tree = new Tree();
                for (int i = 0; i < 2000; i++) {
                    number = number * 1103515245 + 12345;
                    tree.add(number >>> 20);
                }
                for (int i = 0; i < 4096; i++) {
                    sum += tree.count(i);
                }
            }
            return sum;
        });
    }
}
