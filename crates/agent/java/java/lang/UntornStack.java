package java.lang;

import jdk.internal.vm.annotation.DontInline;

/**
 * Fails where nothing has been done yet, if the stack is too short for what follows.
 *
 * The frames of these methods are as large as they make sure of: they get that many local variables when they are defined
 * ({@code src/frames.rs}). The interpreter makes a frame of that size, and compiled code, which can be asked to go on in
 * the interpreter at any call, touches the stack that far down before it begins; so they cost some nanoseconds, and a
 * depth that is enough in one of them is enough in the other.
 */
final class UntornStack {
    private UntornStack() {}

    /** Enough for a slow path of the runtime. */
    @DontInline
    static void forSlowPath() {
        leaf();
    }

    /** Enough for a record, which may need a slow path, and what the platform does after it to give something up. */
    @DontInline
    static void forGiving() {
        leaf();
    }

    /**
     * Enough to take something, to record that, and for {@link #forGiving} some calls deeper. Who has taken a lock and
     * could not be told of it would leave it locked, and so would who cannot give it up.
     */
    @DontInline
    static void forTaking() {
        leaf();
    }

    /** Without a call compiled code would not look at the stack at all. */
    @DontInline
    private static void leaf() {}
}
