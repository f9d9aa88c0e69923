package interop;

import eu.neverblink.jelly.core.patch.PatchHandler;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Writes each row as a line: the operation as RDF Patch names it, and the terms in N-Triples syntax.
 *
 * <p>Names and keys are literals, a namespace without an IRI has an empty one, and the default graph is left out.
 */
final class PatchLineWriter<T> implements PatchHandler.AnyPatchHandler<T> {
  /** The row that ends a patch. */
  static final String MARK = "P .";

  private final Terms<T> terms;
  private final BufferedWriter out;

  PatchLineWriter(Terms<T> terms, BufferedWriter out) {
    this.terms = terms;
    this.out = out;
  }

  @Override
  public void addTriple(T s, T p, T o) {
    addQuad(s, p, o, terms.defaultGraph());
  }

  @Override
  public void deleteTriple(T s, T p, T o) {
    deleteQuad(s, p, o, terms.defaultGraph());
  }

  @Override
  public void addQuad(T s, T p, T o, T g) {
    write(line("A"), s, p, o, g);
  }

  @Override
  public void deleteQuad(T s, T p, T o, T g) {
    write(line("D"), s, p, o, g);
  }

  @Override
  public void addNamespace(String name, T iri, T graph) {
    write(named("PA", name), iri, graph);
  }

  @Override
  public void deleteNamespace(String name, T iri, T graph) {
    write(named("PD", name), iri == null ? terms.literal("", null, null) : iri, graph);
  }

  @Override
  public void header(String key, T value) {
    write(named("H", key), value);
  }

  @Override
  public void transactionStart() {
    write(line("TX"));
  }

  @Override
  public void transactionCommit() {
    write(line("TC"));
  }

  @Override
  public void transactionAbort() {
    write(line("TA"));
  }

  @Override
  public void punctuation() {
    write(line("P"));
  }

  private static StringBuilder line(String operation) {
    return new StringBuilder(operation).append(' ');
  }

  private static StringBuilder named(String operation, String name) {
    StringBuilder line = line(operation);
    Terms.appendQuoted(line, name);
    return line.append(' ');
  }

  @SafeVarargs
  private void write(StringBuilder line, T... row) {
    for (T term : row) {
      int before = line.length();
      terms.append(line, term);
      if (line.length() > before) {
        line.append(' ');
      }
    }
    try {
      out.append(line).append(".\n");
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
