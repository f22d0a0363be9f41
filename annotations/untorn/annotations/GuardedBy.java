package untorn.annotations;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The lock is held at every access to the field, or at every call of the method.
 * Checked.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface GuardedBy {
    /**
     * A lock expression, such as {@code this}, {@code this.lock} or {@code Registry.class}.
     *
     * @return the lock
     */
    String value();
}
