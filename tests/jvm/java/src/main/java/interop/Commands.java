package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/** Runs the commands that the tests call, one for each line of standard input, so that one JVM serves them all. */
interface Commands {
  void run(String[] words) throws Exception;

  static void serve(Commands commands) throws IOException {
    var in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String answer = "ok";
      try {
        commands.run(line.split("\t"));
      } catch (Throwable error) {
        answer = "error " + String.valueOf(error).replace('\n', ' ');
      }
      System.out.println(answer);
      System.out.flush();
    }
  }
}
