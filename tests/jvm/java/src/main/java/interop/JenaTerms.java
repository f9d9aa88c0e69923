package interop;

import org.apache.jena.datatypes.TypeMapper;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.NodeFactory;
import org.apache.jena.graph.Triple;
import org.apache.jena.sparql.core.Quad;

final class JenaTerms implements Terms<Node> {
  @Override
  public Node iri(String iri) {
    return NodeFactory.createURI(iri);
  }

  @Override
  public Node blank(String label) {
    return NodeFactory.createBlankNode(label);
  }

  @Override
  public Node literal(String lexical, String language, String datatype) {
    if (language != null) {
      return NodeFactory.createLiteralLang(lexical, language);
    }
    return datatype == null
        ? NodeFactory.createLiteralString(lexical)
        : NodeFactory.createLiteralDT(lexical, TypeMapper.getInstance().getSafeTypeByName(datatype));
  }

  @Override
  public Node triple(Node s, Node p, Node o) {
    return NodeFactory.createTripleNode(Triple.create(s, p, o));
  }

  @Override
  public Node defaultGraph() {
    return Quad.defaultGraphIRI;
  }

  @Override
  public String lexical(Node term) {
    return term.isLiteral() ? term.getLiteralLexicalForm() : null;
  }

  @Override
  public void append(StringBuilder line, Node term) {
    if (term == null || Quad.isDefaultGraph(term)) {
      return;
    }
    if (term.isURI()) {
      line.append('<').append(term.getURI()).append('>');
    } else if (term.isBlank()) {
      line.append("_:").append(term.getBlankNodeLabel());
    } else if (term.isLiteral()) {
      Terms.appendLiteral(
          line, term.getLiteralLexicalForm(), term.getLiteralLanguage(), term.getLiteralDatatypeURI());
    } else {
      Triple quoted = term.getTriple();
      line.append("<< ");
      for (Node part : new Node[] {quoted.getSubject(), quoted.getPredicate(), quoted.getObject()}) {
        append(line, part);
        line.append(' ');
      }
      line.append(">>");
    }
  }
}
