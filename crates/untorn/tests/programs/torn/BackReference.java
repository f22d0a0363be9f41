package torn;

import schedule.Pause;

/** Torn: Graph.link: one direction is there before the other. */
public class BackReference {
    static class Graph {
        static class Vertex {
            Vertex to;
        }
        void link(Vertex a, Vertex b) {
            a.to = b;
            Pause.here();
            b.to = a;
        }
        boolean linked(Vertex a, Vertex b) {
            return (a.to == b) == (b.to == a);
        }
    }

    public static void main(String[] args) {
        Graph c = new Graph();
        Graph.Vertex a = new Graph.Vertex();
        Graph.Vertex b = new Graph.Vertex();
        Pause.race(() -> c.link(a, b), () -> c.linked(a, b));
    }
}
