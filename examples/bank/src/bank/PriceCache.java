package bank;

import java.util.HashMap;
import java.util.Map;

/** Prices, computed once and kept. */
final class PriceCache {
    private final Map<String, Integer> prices = new HashMap<>();

    private synchronized Integer get(String item) {
        return prices.get(item);
    }

    private synchronized void put(String item, int price) {
        prices.put(item, price);
    }

    /** Torn: two threads can both find nothing, and both compute. */
    int price(String item) {
        Integer price = get(item);
        if (price == null) {
            Work.some();
            price = item.length();
            put(item, price);
        }
        return price;
    }

    /** Whole: looks and fills under one lock. */
    synchronized int priceSafely(String item) {
        Integer price = prices.get(item);
        if (price == null) {
            price = item.length();
            prices.put(item, price);
        }
        return price;
    }
}
