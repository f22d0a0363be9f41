package untorn.annotations;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The lock is held at every write to the field; reads may go without.
 * Checked.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.FIELD)
public @interface WriteGuardedBy {
    /**
     * A lock expression, such as {@code this}, {@code this.lock} or {@code Registry.class}.
     *
     * @return the lock
     */
    String value();
}
