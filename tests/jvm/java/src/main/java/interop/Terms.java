package interop;

/** How a library makes its terms, and what they hold. A graph that is null is the default graph. */
interface Terms<T> {
  T iri(String iri);

  T blank(String label);

  T literal(String lexical, String language, String datatype);

  T triple(T s, T p, T o);

  T defaultGraph();

  /** Returns the lexical form of a literal, and null for other terms. */
  String lexical(T term);

  /** Appends a term in N-Triples syntax; nothing for the default graph. */
  void append(StringBuilder line, T term);

  static void appendQuoted(StringBuilder line, String text) {
    line.append('"');
    for (int at = 0; at < text.length(); at++) {
      char next = text.charAt(at);
      switch (next) {
        case '"' -> line.append("\\\"");
        case '\\' -> line.append("\\\\");
        case '\n' -> line.append("\\n");
        case '\r' -> line.append("\\r");
        default -> line.append(next);
      }
    }
    line.append('"');
  }

  static void appendLiteral(StringBuilder line, String lexical, String language, String datatype) {
    appendQuoted(line, lexical);
    if (language != null && !language.isEmpty()) {
      line.append('@').append(language);
    } else if (datatype != null && !datatype.equals("http://www.w3.org/2001/XMLSchema#string")) {
      line.append("^^<").append(datatype).append('>');
    }
  }
}
