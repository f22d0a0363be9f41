package shop;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Says that it is for several threads, and tears in three ways; one method is whole. */
public class Ledger {
    private final List<String> entries = Collections.synchronizedList(new ArrayList<>());
    private int total;

    /** Lost update: read under the lock, written under the lock, and not in one piece. */
    public int add(int amount) {
        int before = total();
        int after = before + amount;
        set(after);
        return after;
    }

    public synchronized int total() {
        return total;
    }

    public synchronized void set(int amount) {
        total = amount;
    }

    /** Check then act on a list each of whose own methods is whole. */
    public boolean enterOnce(String entry) {
        if (entries.contains(entry)) return false;
        entries.add(entry);
        return true;
    }

    /** Two looks at what may have gone in between. */
    public String last() {
        if (entries.isEmpty()) return "";
        return entries.get(entries.size() - 1);
    }

    public void clear() {
        entries.clear();
    }

    public int count() {
        return entries.size();
    }

    /** Whole. */
    public synchronized int addInOne(int amount) {
        total += amount;
        return total;
    }
}
