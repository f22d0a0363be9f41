package dev.untorn.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** What a build file may say in {@code untorn { … }}; nothing has to be said. */
public class UntornExtension {
    private String failOn = "worth";
    private File baseline;
    private List<String> include = new ArrayList<>();
    private String executable;

    /** Which findings fail the build: worth, high, observed, any, stronger, none. */
    public String getFailOn() {
        return failOn;
    }

    public void setFailOn(String failOn) {
        this.failOn = failOn;
    }

    /** Saved findings that are known, and fail nothing. */
    public File getBaseline() {
        return baseline;
    }

    public void setBaseline(File baseline) {
        this.baseline = baseline;
    }

    /** The classes to watch, as patterns; default: the packages of the build's own classes. */
    public List<String> getInclude() {
        return include;
    }

    public void setInclude(List<String> include) {
        this.include = include;
    }

    /** The program to use instead of the one that comes with the plugin. */
    public String getExecutable() {
        return executable;
    }

    public void setExecutable(String executable) {
        this.executable = executable;
    }
}
