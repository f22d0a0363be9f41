package untorn.annotations;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method is one step to other threads, or every exported method of the class is.
 * Checked.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.METHOD, ElementType.CONSTRUCTOR, ElementType.TYPE})
public @interface Atomic {
    /**
     * A more exact atomicity, such as {@code this ? mover : atomic}.
     *
     * @return the upper bound that the method is checked against
     */
    String value() default "atomic";
}
