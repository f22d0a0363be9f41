package dev.untorn.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Watches a test, or every test of a class: it fails if an operation of the program is seen torn in it, and says how.
 *
 * <p>The test runs in a JVM of its own, which the agent watches from its start: an agent that comes later cannot change what is loaded already.
 * What is annotated {@code @BeforeEach} and the like runs in both JVMs.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(UntornExtension.class)
public @interface Untorn {
    /** Which findings fail the test: high, worth, observed, any; see {@code untorn run --fail-on}. */
    String failOn() default "high";

    /** The classes to watch, as patterns; default: the packages of the class path's folders. */
    String[] include() default {};
}
