import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs Kafka's console tools one after another in one JVM, since its start is most of what such a command costs. A line on
 * stdin is `FILE<tab>class<tab>argument...`; what the command prints goes to FILE, and `DONE code` to stdout.
 */
public final class Tools {
  private Tools() {}

  /** Thrown instead of ending the JVM. Some tools catch it, print it and exit again, so the first exit silences them. */
  private static final class Exited extends Error {
    private static final long serialVersionUID = 1;
  }

  private static Integer exitCode;

  private static void exit(int code, String message) {
    if (exitCode == null) {
      exitCode = code;
      if (message != null) {
        System.err.println(message);
      }
      System.setOut(new PrintStream(OutputStream.nullOutputStream()));
      System.setErr(System.out);
    }
    throw new Exited();
  }

  private static int run(String tool, String[] arguments) throws ReflectiveOperationException {
    exitCode = null;
    try {
      Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) arguments);
    } catch (InvocationTargetException thrown) {
      if (exitCode == null) {
        thrown.getCause().printStackTrace();
        return 1;
      }
    }
    return exitCode == null ? 0 : exitCode;
  }

  public static void main(String[] unused) throws Exception {
    Exit.setExitProcedure(Tools::exit);
    Exit.setHaltProcedure(Tools::exit);
    Exit.setShutdownHookAdder((name, hook) -> { });
    final PrintStream told = System.out;
    final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      final String[] words = line.split("\t", -1);
      try (OutputStream file = Files.newOutputStream(Path.of(words[0]));
          PrintStream captured = new PrintStream(file, true, StandardCharsets.UTF_8)) {
        System.setOut(captured);
        System.setErr(captured);
        final int code = run(words[1], Arrays.copyOfRange(words, 2, words.length));
        told.println("DONE " + code);
      }
    }
  }
}
