package interop;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.jena.rdfpatch.RDFPatch;
import org.apache.jena.rdfpatch.RDFPatchOps;
import org.apache.jena.riot.Lang;
import org.apache.jena.riot.RDFDataMgr;
import org.apache.jena.sparql.core.DatasetGraph;
import org.apache.jena.sparql.core.DatasetGraphFactory;

/** RDF Patch as Jena has it: read and written again, and applied to a data set. */
final class PatchText {
  private PatchText() {}

  static void copy(Path from, Path to) throws IOException {
    try (OutputStream out = Files.newOutputStream(to)) {
      RDFPatchOps.write(out, read(from));
    }
  }

  static void apply(Path data, Path patch, Path to) throws IOException {
    DatasetGraph dataset = DatasetGraphFactory.createTxnMem();
    RDFDataMgr.read(dataset, data.toUri().toString(), Lang.NQUADS);
    RDFPatchOps.applyChange(dataset, read(patch));
    try (OutputStream out = Files.newOutputStream(to)) {
      dataset.executeRead(() -> RDFDataMgr.write(out, dataset, Lang.NQUADS));
    }
  }

  private static RDFPatch read(Path patch) throws IOException {
    try (InputStream in = Files.newInputStream(patch)) {
      return RDFPatchOps.read(in);
    }
  }
}
