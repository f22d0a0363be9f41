package drivers;

import java.util.Date;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.PersistJobDataAfterExecution;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** Jobs that run again and again in the pool of a scheduler, some with data that each run hands to the next. */
public final class Quartz {
    private static final AtomicLong TOTAL = new AtomicLong();
    private static final AtomicLong FAILED = new AtomicLong();
    private static volatile CountDownLatch left;

    public static void main(String[] arguments) throws Exception {
        int threads = Workers.number(arguments, 0);
        int size = Workers.number(arguments, 1);
        Properties properties = new Properties();
        properties.setProperty("org.quartz.scheduler.instanceName", "driver");
        properties.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        properties.setProperty("org.quartz.threadPool.threadCount", Integer.toString(threads));
        properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        // Misfires would let runs fall away on a slow machine.
        properties.setProperty("org.quartz.jobStore.misfireThreshold", "100000000");
        Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
        int jobs = 10;
        left = new CountDownLatch(jobs * size);
        for (int i = 0; i < jobs; i++) {
            JobDetail job = JobBuilder.newJob(i % 2 == 0 ? Counting.class : Failing.class)
                .withIdentity("job" + i).usingJobData("number", i).usingJobData("runs", 0).storeDurably().build();
            Trigger trigger = TriggerBuilder.newTrigger().withIdentity("trigger" + i).startAt(new Date())
                .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(1)
                    .withRepeatCount(size - 1).withMisfireHandlingInstructionIgnoreMisfires())
                .build();
            scheduler.scheduleJob(job, trigger);
        }
        scheduler.start();
        left.await();
        scheduler.shutdown(true);
        System.out.println("total " + TOTAL.get() + ", failed " + FAILED.get());
    }

    /** Work for a run: its number decides what comes out. */
    static long work(int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 200; i++) {
            text.append(number * i % 10);
        }
        return Workers.sum(text.toString()) & 0xffff;
    }

    @DisallowConcurrentExecution
    @PersistJobDataAfterExecution
    public static final class Counting implements Job {
        @Override
        public void execute(JobExecutionContext context) {
            JobDataMap data = context.getJobDetail().getJobDataMap();
            int runs = data.getInt("runs") + 1;
            data.put("runs", runs);
            TOTAL.addAndGet(work(data.getInt("number")) + runs);
            left.countDown();
        }
    }

    public static final class Failing implements Job {
        @Override
        public void execute(JobExecutionContext context) throws JobExecutionException {
            int number = context.getJobDetail().getJobDataMap().getInt("number");
            TOTAL.addAndGet(work(number));
            if (number == 3) {
                FAILED.incrementAndGet();
                left.countDown();
                throw new JobExecutionException("job " + number + " always fails", false);
            }
            left.countDown();
        }
    }
}
