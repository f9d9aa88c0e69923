package interop;

import eu.neverblink.jelly.convert.jena.patch.JenaPatchConverterFactory;
import eu.neverblink.jelly.convert.rdf4j.patch.Rdf4jPatchConverterFactory;
import eu.neverblink.jelly.core.patch.JellyPatchOptions;
import eu.neverblink.jelly.core.proto.v1.patch.PatchStatementType;
import eu.neverblink.jelly.core.proto.v1.patch.PatchStreamType;
import eu.neverblink.jelly.core.proto.v1.patch.RdfPatchOptions;
import java.nio.file.Path;

/** What the tests of Jelly-Patch call. */
public final class PatchMain {
  private PatchMain() {}

  public static void main(String[] arguments) throws Exception {
    Commands.serve(PatchMain::run);
  }

  private static void run(String[] words) throws Exception {
    switch (words[0]) {
      case "decode" -> codec(words[1]).decode(Path.of(words[2]), Path.of(words[3]));
      case "encode" ->
          codec(words[1])
              .encode(Path.of(words[2]), Path.of(words[3]), options(words, 4), Integer.parseInt(words[9]));
      case "from-jelly" -> JenaPatches.fromJelly(Path.of(words[1]), Path.of(words[2]));
      case "to-jelly" ->
          JenaPatches.toJelly(
              Path.of(words[1]), Path.of(words[2]), options(words, 3), Integer.parseInt(words[8]));
      default -> throw new IllegalArgumentException("no command " + words[0]);
    }
  }

  /** The options that words from one on say: statement type, stream type, and the sizes of the three tables. */
  private static RdfPatchOptions options(String[] words, int first) {
    return JellyPatchOptions.BIG_ALL_FEATURES
        .clone()
        .setStatementType(PatchStatementType.valueOf(words[first]))
        .setStreamType(PatchStreamType.valueOf(words[first + 1]))
        .setMaxNameTableSize(Integer.parseInt(words[first + 2]))
        .setMaxPrefixTableSize(Integer.parseInt(words[first + 3]))
        .setMaxDatatypeTableSize(Integer.parseInt(words[first + 4]));
  }

  private static PatchCodec<?> codec(String library) {
    return library.equals("jena")
        ? new PatchCodec<>(JenaPatchConverterFactory.getInstance(), new JenaTerms())
        : new PatchCodec<>(Rdf4jPatchConverterFactory.getInstance(), new Rdf4jTerms());
  }
}
