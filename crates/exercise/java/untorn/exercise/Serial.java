package untorn.exercise;

import java.util.ArrayList;
import java.util.List;

/** What the two orders of the calls give, from many tries of each: only parts that were the same in all of them count. */
final class Serial {
    private final Outcome[] orders = new Outcome[2];
    /** The parts that count. */
    private List<Integer> parts = new ArrayList<>();

    /** What another try of an order gave. */
    void add(boolean tornFirst, Outcome outcome) {
        int order = tornFirst ? 0 : 1;
        if (orders[0] == null && orders[1] == null) for (int i = 0; i < outcome.parts().size(); i++) parts.add(i);
        if (orders[order] == null) orders[order] = outcome;
        Outcome before = orders[order];
        parts.removeIf(i -> outcome.parts().get(i).equals(Outcome.NOTHING) || !outcome.parts().get(i).equals(before.parts().get(i)));
    }

    /** Parts that do not count here either. */
    void drop(int part) {
        parts.remove((Integer) part);
    }

    List<Integer> parts() {
        return List.copyOf(parts);
    }

    Outcome tornFirst() {
        return orders[0];
    }

    Outcome tornLast() {
        return orders[1];
    }

    boolean saysNothing() {
        return parts.isEmpty();
    }

    /** Whether a call throws in both orders: then it is hardly one that somebody means. */
    boolean fails(int part) {
        return isException(orders[0].parts().get(part)) && isException(orders[1].parts().get(part));
    }

    private static boolean isException(String text) {
        return text.endsWith("Exception") || text.endsWith("Error");
    }

    /** Whether it matters which call comes first. */
    boolean differs() {
        return !orders[0].only(parts).equals(orders[1].only(parts));
    }

    boolean explains(Outcome seen) {
        return explains(seen, parts);
    }

    boolean explains(Outcome seen, List<Integer> parts) {
        Outcome kept = seen.only(parts);
        return kept.equals(orders[0].only(parts)) || kept.equals(orders[1].only(parts));
    }
}
