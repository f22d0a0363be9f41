package whole;

import java.util.concurrent.atomic.AtomicReference;
import schedule.Pause;

/** Whole: a stack by compareAndSet. */
public class TreiberStack {
    static class Node {
        final int value;
        final Node next;
        Node(int value, Node next) {
            this.value = value;
            this.next = next;
        }
    }
    static class Stack {
        private final AtomicReference<Node> top = new AtomicReference<>();
        void push(int value) {
            Node old;
            do {
                old = top.get();
                Pause.here();
            } while (!top.compareAndSet(old, new Node(value, old)));
        }
        Integer pop() {
            Node old;
            do {
                old = top.get();
                if (old == null) {
                    return null;
                }
            } while (!top.compareAndSet(old, old.next));
            return old.value;
        }
    }

    public static void main(String[] args) {
        Stack c = new Stack();
        Pause.race(() -> c.push(1), () -> c.push(2));
    }
}
