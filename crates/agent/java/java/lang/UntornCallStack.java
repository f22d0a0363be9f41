package java.lang;


/**
 * The calls on collections that one thread is in; each is an interval, not a point.
 */
abstract class UntornCallStack extends UntornReadShared {
    /** What a call that only reads and holds nothing is on, and how that looked when it began; null for none. */
    UntornEntry repeated;
    long repeatedWord, repeatedCalls;
    private UntornEntry[] calls;
    private long[] callsBegun;
    private int[] callSizes;
    private int callDepth;

    UntornCallStack(int id) {
        super(id);
    }

    /** Enters a call, which {@link #callSize} can be told of; without memory for it the call goes unrecorded. */
    boolean pushCall(UntornEntry entry) {
        try {
            if (calls == null) {
                callsBegun = new long[8];
                callSizes = new int[8];
                calls = new UntornEntry[8];
            } else if (callDepth == calls.length) {
                UntornEntry[] deeper = new UntornEntry[callDepth * 2];
                long[] deeperBegun = new long[callDepth * 2];
                int[] deeperSizes = new int[callDepth * 2];
                System.arraycopy(calls, 0, deeper, 0, callDepth);
                System.arraycopy(callsBegun, 0, deeperBegun, 0, callDepth);
                System.arraycopy(callSizes, 0, deeperSizes, 0, callDepth);
                calls = deeper;
                callsBegun = deeperBegun;
                callSizes = deeperSizes;
            }
        } catch (VirtualMachineError noMemory) {
            return false;
        }
        callsBegun[callDepth] = entry.beginCall();
        calls[callDepth++] = entry;
        return true;
    }

    /** What the innermost call's collection had in it when the call began; -1 if that is not known. */
    void setCallSize(int size) {
        callSizes[callDepth - 1] = size;
    }

    int callSize(int call) {
        return callSizes[call];
    }

    /** The innermost running call; there is one. */
    UntornEntry topCall() {
        return calls[callDepth - 1];
    }

    /** The innermost call on an object that is running; -1 for none. */
    int call(Object receiver) {
        int i = callDepth - 1;
        while (i >= 0 && !calls[i].refersTo(receiver)) i--;
        return i;
    }

    UntornEntry callEntry(int call) {
        return calls[call];
    }

    long callBegun(int call) {
        return callsBegun[call];
    }

    long popCall() {
        calls[--callDepth] = null;
        return callsBegun[callDepth];
    }
}
