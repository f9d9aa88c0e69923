package interop;

import eu.neverblink.jelly.convert.jena.patch.JenaPatchConverterFactory;
import eu.neverblink.jelly.convert.jena.patch.RdfPatchReaderJelly;
import eu.neverblink.jelly.convert.jena.patch.RdfPatchWriterJelly;
import eu.neverblink.jelly.core.proto.v1.patch.RdfPatchOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.jena.rdfpatch.RDFPatchOps;
import org.apache.jena.rdfpatch.changes.RDFChangesCollector;

/** RDF Patch text to Jelly-Patch and back, by the reader and the writer that Jelly-JVM has for Jena's changes. */
final class JenaPatches {
  private JenaPatches() {}

  static void toJelly(Path text, Path jelly, RdfPatchOptions options, int frameRows) throws IOException {
    try (InputStream in = Files.newInputStream(text);
        OutputStream out = Files.newOutputStream(jelly)) {
      var settings = new RdfPatchWriterJelly.Options(options, frameRows, true);
      var writer = new RdfPatchWriterJelly(settings, JenaPatchConverterFactory.getInstance(), out);
      RDFPatchOps.read(in).apply(writer);
      writer.finish();
    }
  }

  static void fromJelly(Path jelly, Path text) throws IOException {
    try (InputStream in = Files.newInputStream(jelly);
        OutputStream out = Files.newOutputStream(text)) {
      var collected = new RDFChangesCollector();
      var settings = new RdfPatchReaderJelly.Options();
      new RdfPatchReaderJelly(settings, JenaPatchConverterFactory.getInstance(), in).apply(collected);
      RDFPatchOps.write(out, collected.getRDFPatch());
    }
  }
}
