import org.apache.log4j.spi.ThrowableInformation;

/** Two appenders ask for the text of one stack trace: the array is stored before its lines are in it. */
public class LogThrowable {
    public static void main(String[] arguments) throws Exception {
        Rounds.race(400, 2, number -> {
            ThrowableInformation information = new ThrowableInformation(new IllegalStateException("round " + number));
            Runnable ask = information::getThrowableStrRep;
            return new Runnable[] {ask, ask};
        });
    }
}
