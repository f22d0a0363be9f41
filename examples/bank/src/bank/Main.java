package bank;

import java.util.ArrayList;
import java.util.List;

/** Three tellers and an auditor at work on one bank. */
public final class Main {
    private static final int TELLERS = 3;

    private Main() {}

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 400;
        Bank bank = new Bank();
        PriceCache cache = new PriceCache();
        OrderBook book = new OrderBook();
        Account tips = new Account(1_000_000);
        List<Thread> threads = new ArrayList<>();
        for (int teller = 0; teller < TELLERS; teller++) {
            threads.add(new Thread(() -> tell(rounds, bank, cache, book, tips), "teller-" + teller));
        }
        threads.add(new Thread(() -> audit(rounds, bank, book, tips), "auditor"));
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("the bank closes after " + rounds + " rounds and holds " + bank.total());
    }

    private static void tell(int rounds, Bank bank, PriceCache cache, OrderBook book, Account tips) {
        for (int round = 0; round < rounds; round++) {
            bank.transfer(1);
            cache.price("item" + round % 50);
            cache.priceSafely("other" + round % 50);
            book.place(round);
            book.placeSafely(round);
            tips.withdraw(1);
            tips.withdrawSafely(1);
        }
    }

    private static void audit(int rounds, Bank bank, OrderBook book, Account tips) {
        for (int round = 0; round < rounds; round++) {
            bank.total();
            book.average();
            tips.deposit(1);
        }
    }
}
