package untorn.exercise;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What is to be exercised: lines of words, divided by tabs. */
final class Job {
    record Line(int number, String type, String torn, String tornDescriptor, String by, String byDescriptor, String found) {
        /** The method that may be torn. */
        String method() {
            return type + "." + torn + tornDescriptor;
        }
    }

    final List<Class<?>> known = new ArrayList<>();
    final List<Line> pairs = new ArrayList<>();
    long seed = 1, milliseconds = Long.MAX_VALUE / 1_000_000;
    int firstPass, passes = 3;
    /** The pair of the first pass that was the last one of a process before this; -1 if there was none. */
    int after = -1;
    boolean steered;

    static Job read(Path file) throws IOException {
        Job job = new Job();
        for (String line : Files.readAllLines(file)) {
            String[] words = line.split("\t", -1);
            switch (words[0]) {
                case "seed" -> job.seed = Long.parseLong(words[1]);
                case "milliseconds" -> job.milliseconds = Long.parseLong(words[1]);
                case "passes" -> job.passes = Integer.parseInt(words[1]);
                case "after" -> {
                    job.firstPass = Integer.parseInt(words[1]);
                    job.after = Integer.parseInt(words[2]);
                }
                case "steered" -> job.steered = true;
                case "known" -> job.know(words[1]);
                case "pair" -> {
                    job.pairs.add(new Line(Integer.parseInt(words[1]), words[2], words[3], words[4], words[5], words[6], words[7]));
                    // A class that nobody may name comes from the one around it.
                    if (words[2].contains("$")) job.know(words[2].substring(0, words[2].indexOf('$')));
                }
                default -> throw new IOException("a job has no " + words[0]);
            }
        }
        return job;
    }

    private void know(String name) {
        try {
            // Not initialized: that is done when one of its objects is made.
            Class<?> type = Class.forName(name, false, Job.class.getClassLoader());
            if (Maker.isVisible(type) && !known.contains(type)) known.add(type);
        } catch (ClassNotFoundException | LinkageError missing) {
            // Classes whose own classes are missing cannot be made.
        }
    }
}
