package interop;

import eu.neverblink.jelly.convert.jena.JenaConverterFactory;
import eu.neverblink.jelly.convert.rdf4j.Rdf4jConverterFactory;
import java.nio.file.Path;

/** What the tests call. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    Commands.serve(Main::run);
  }

  private static void run(String[] words) throws Exception {
    switch (words[0]) {
      case "decode" -> codec(words[1]).decode(Path.of(words[2]), Path.of(words[3]));
      case "encode" ->
          codec(words[1])
              .encode(Path.of(words[2]), Path.of(words[3]), words[4], words[5], Integer.parseInt(words[6]));
      case "patch-copy" -> PatchText.copy(Path.of(words[1]), Path.of(words[2]));
      case "patch-apply" -> PatchText.apply(Path.of(words[1]), Path.of(words[2]), Path.of(words[3]));
      case "grpc-publish" -> Grpc.publish(words[1], words[2], Path.of(words[3]));
      case "grpc-subscribe" ->
          Grpc.subscribe(words[1], words[2], Integer.parseInt(words[3]), Path.of(words[4]));
      case "grpc-serve" -> Grpc.serve(Path.of(words[1]), Path.of(words[2]), Path.of(words[3]));
      default -> throw new IllegalArgumentException("no command " + words[0]);
    }
  }

  private static Codec<?> codec(String library) {
    return library.equals("jena")
        ? new Codec<>(JenaConverterFactory.getInstance(), new JenaTerms())
        : new Codec<>(Rdf4jConverterFactory.getInstance(), new Rdf4jTerms());
  }
}
