package dev.untorn.junit;

/** An operation was seen torn; the message is how. */
public final class TornError extends AssertionError {
    private static final long serialVersionUID = 1;

    TornError(String message) {
        super(message);
    }

    /** Where it was noticed says nothing. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
