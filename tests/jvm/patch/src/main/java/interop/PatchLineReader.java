package interop;

import eu.neverblink.jelly.core.patch.PatchHandler;
import eu.neverblink.jelly.core.proto.v1.patch.PatchStatementType;
import java.util.List;

/** Reads lines as {@link PatchLineWriter} writes them, and gives the rows to a handler. */
final class PatchLineReader<T> {
  private final Terms<T> terms;
  private final PatchHandler.AnyPatchHandler<T> handler;
  private final boolean hasGraph;
  private final LineParser<T> parser;

  PatchLineReader(Terms<T> terms, PatchHandler.AnyPatchHandler<T> handler, PatchStatementType type) {
    this.terms = terms;
    this.handler = handler;
    this.hasGraph = type == PatchStatementType.QUADS;
    this.parser = new LineParser<>(terms);
  }

  void read(String line) {
    int end = line.indexOf(' ');
    String operation = line.substring(0, end);
    List<T> row = parser.parse(line.substring(end));
    switch (operation) {
      case "A" -> {
        if (hasGraph) {
          handler.addQuad(row.get(0), row.get(1), row.get(2), graph(row, 3));
        } else {
          handler.addTriple(row.get(0), row.get(1), row.get(2));
        }
      }
      case "D" -> {
        if (hasGraph) {
          handler.deleteQuad(row.get(0), row.get(1), row.get(2), graph(row, 3));
        } else {
          handler.deleteTriple(row.get(0), row.get(1), row.get(2));
        }
      }
      case "PA" -> handler.addNamespace(terms.lexical(row.get(0)), row.get(1), graph(row, 2));
      case "PD" -> {
        boolean isKnown = terms.lexical(row.get(1)) == null;
        handler.deleteNamespace(terms.lexical(row.get(0)), isKnown ? row.get(1) : null, graph(row, 2));
      }
      case "H" -> handler.header(terms.lexical(row.get(0)), row.get(1));
      case "TX" -> handler.transactionStart();
      case "TC" -> handler.transactionCommit();
      case "TA" -> handler.transactionAbort();
      case "P" -> handler.punctuation();
      default -> throw new IllegalArgumentException("no operation " + operation);
    }
  }

  /** The graph at a place: in streams of triples there is none, and else one that is left out is the default graph. */
  private T graph(List<T> row, int place) {
    if (!hasGraph) {
      return null;
    }
    return place < row.size() ? row.get(place) : terms.defaultGraph();
  }
}
