import java.util.List;
import org.joda.time.format.ISODateTimeFormat;

/** Two threads ask for each of the ISO formatters for the first time: both find the static field empty, and both fill it. */
public class JodaFormats {
    public static void main(String[] arguments) throws Exception {
        List<Runnable> formatters = List.of(
                ISODateTimeFormat::year,
                ISODateTimeFormat::hour,
                ISODateTimeFormat::weekyear,
                ISODateTimeFormat::yearMonth,
                ISODateTimeFormat::hourMinute,
                ISODateTimeFormat::weekyearWeek,
                ISODateTimeFormat::yearMonthDay,
                ISODateTimeFormat::hourMinuteSecond,
                ISODateTimeFormat::weekyearWeekDay,
                ISODateTimeFormat::time,
                ISODateTimeFormat::tTime,
                ISODateTimeFormat::dateTime,
                ISODateTimeFormat::weekDateTime,
                ISODateTimeFormat::ordinalDate,
                ISODateTimeFormat::ordinalDateTime,
                ISODateTimeFormat::dateHour,
                ISODateTimeFormat::dateHourMinute,
                ISODateTimeFormat::dateHourMinuteSecond,
                ISODateTimeFormat::basicDate,
                ISODateTimeFormat::basicTime,
                ISODateTimeFormat::basicDateTime,
                ISODateTimeFormat::basicWeekDate,
                ISODateTimeFormat::basicWeekDateTime,
                ISODateTimeFormat::basicOrdinalDate);
        Rounds.race(formatters.size(), 2, number -> new Runnable[] {formatters.get(number), formatters.get(number)});
    }
}
