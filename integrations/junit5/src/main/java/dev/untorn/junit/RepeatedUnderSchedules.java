package dev.untorn.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test again and again under schedules that are steered to where an operation could be torn: it fails if one is seen torn, and also if the test itself fails in any of the runs.
 *
 * <p>A first run says what to steer for; where it suspects nothing, no other follows. See {@code untorn reproduce}.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(UntornExtension.class)
public @interface RepeatedUnderSchedules {
    /** How many runs to steer at most. */
    int value() default 50;

    /** How long to try in all, such as 60s or 5m. */
    String budget() default "60s";
}
