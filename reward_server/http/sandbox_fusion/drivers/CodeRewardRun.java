import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Set;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs all tests in a folder of classes, and prints their summary. */
public class CodeRewardRun {
    public static int run(Path classes) {
        SummaryGeneratingListener heard = new SummaryGeneratingListener();
        LauncherDiscoveryRequest wanted = LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClasspathRoots(Set.of(classes))).build();
        LauncherFactory.create().execute(wanted, heard);
        TestExecutionSummary summary = heard.getSummary();
        summary.printFailuresTo(new PrintWriter(System.out));
        summary.printTo(new PrintWriter(System.out));
        if (summary.getTotalFailureCount() > 0) return 1;
        return summary.getTestsFoundCount() == 0 ? 2 : 0;
    }
}
