package interop;

import java.util.ArrayList;
import java.util.List;

/** Parses lines of N-Quads as the tests write them: well-formed, quoted triples included. */
final class LineParser<T> {
  private final Terms<T> terms;
  private String line;
  private int at;

  LineParser(Terms<T> terms) {
    this.terms = terms;
  }

  /** Returns the three or four terms of a statement. */
  List<T> parse(String text) {
    line = text;
    at = 0;
    List<T> found = new ArrayList<>(4);
    while (next() != '.') {
      found.add(term());
    }
    return found;
  }

  private char next() {
    while (line.charAt(at) == ' ' || line.charAt(at) == '\t') {
      at++;
    }
    return line.charAt(at);
  }

  private T term() {
    if (line.startsWith("<<", at)) {
      at += 2;
      next();
      T s = term();
      next();
      T p = term();
      next();
      T o = term();
      next();
      at += 2;
      return terms.triple(s, p, o);
    }
    if (line.charAt(at) == '<') {
      return terms.iri(iri());
    }
    if (line.charAt(at) == '_') {
      int start = at + 2;
      while (line.charAt(at) != ' ') {
        at++;
      }
      return terms.blank(line.substring(start, at));
    }
    return literal();
  }

  private String iri() {
    int start = at + 1;
    at = line.indexOf('>', start) + 1;
    return unescaped(line.substring(start, at - 1));
  }

  private T literal() {
    int start = ++at;
    while (line.charAt(at) != '"') {
      at += line.charAt(at) == '\\' ? 2 : 1;
    }
    String lexical = unescaped(line.substring(start, at++));
    if (line.charAt(at) == '@') {
      start = at + 1;
      while (line.charAt(at) != ' ') {
        at++;
      }
      return terms.literal(lexical, line.substring(start, at), null);
    }
    if (line.startsWith("^^", at)) {
      at += 2;
      return terms.literal(lexical, null, iri());
    }
    return terms.literal(lexical, null, null);
  }

  private static String unescaped(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder();
    for (int at = 0; at < text.length(); at++) {
      char next = text.charAt(at);
      if (next != '\\') {
        plain.append(next);
        continue;
      }
      char code = text.charAt(++at);
      switch (code) {
        case 'n' -> plain.append('\n');
        case 'r' -> plain.append('\r');
        case 't' -> plain.append('\t');
        case 'b' -> plain.append('\b');
        case 'f' -> plain.append('\f');
        case 'u', 'U' -> {
          int digits = code == 'u' ? 4 : 8;
          plain.appendCodePoint(Integer.parseInt(text.substring(at + 1, at + 1 + digits), 16));
          at += digits;
        }
        default -> plain.append(code);
      }
    }
    return plain.toString();
  }
}
