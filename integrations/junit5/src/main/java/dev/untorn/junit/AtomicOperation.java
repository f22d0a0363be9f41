package dev.untorn.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Says which operations the test expects to be one step; only these are looked at, and they may wait.
 *
 * <p>{@code @AtomicOperation("Cache.get")} names a method of a class in the package of the test; classes elsewhere are named in full.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(UntornExtension.class)
public @interface AtomicOperation {
    String[] value();
}
