package repaired;

import schedule.Pause;

/** Repaired: Stack.push is one step now; before: two threads hang their node in front of the same one. */
public class LinkedPush {
    static class Node {
        int value;
        Node next;
        Node(int value, Node next) {
            this.value = value;
            this.next = next;
        }
    }
    static class Stack {
        Node head;
        synchronized void push(int value) {
            Node old = head;
            Pause.here();
            head = new Node(value, old);
        }
    }

    public static void main(String[] args) {
        Stack c = new Stack();
        Pause.race(() -> c.push(1), () -> c.push(2));
    }
}
