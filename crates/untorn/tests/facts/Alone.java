/** An application; the end of a field's name says what is to be known of it. */
public class Alone {
    static class Scratch {
        int ownConfined;

        synchronized void add(int n) {
            ownConfined += n;
        }
    }

    static class Task implements Runnable {
        int givenShared;

        public void run() {
            Local local = new Local();
            for (int i = 0; i < 10; i++) local.onceConfined++;
            givenShared = local.onceConfined;
        }
    }

    static class Local {
        int onceConfined;
    }

    static class Both {
        int sometimesShared;
    }

    static class Unreached {
        int deadShared;

        void dead() {
            deadShared = 1;
        }
    }

    static Both kept;

    static void dead(Unreached of) {
        of.deadShared++;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Scratch scratch = new Scratch();
        scratch.add(1);
        scratch.add(2);
        Task task = new Task();
        Thread thread = new Thread(task);
        thread.start();
        task.givenShared = 3;
        thread.join();
        use(new Both());
        kept = new Both();
        use(kept);
        synchronized (scratch) {
            scratch.ownConfined++;
        }
    }

    static void use(Both both) {
        both.sometimesShared++;
    }
}
