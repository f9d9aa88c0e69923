package interop;

import org.eclipse.rdf4j.model.BNode;
import org.eclipse.rdf4j.model.IRI;
import org.eclipse.rdf4j.model.Literal;
import org.eclipse.rdf4j.model.Resource;
import org.eclipse.rdf4j.model.Triple;
import org.eclipse.rdf4j.model.Value;
import org.eclipse.rdf4j.model.ValueFactory;
import org.eclipse.rdf4j.model.impl.SimpleValueFactory;

final class Rdf4jTerms implements Terms<Value> {
  private final ValueFactory values = SimpleValueFactory.getInstance();

  @Override
  public Value iri(String iri) {
    return values.createIRI(iri);
  }

  @Override
  public Value blank(String label) {
    return values.createBNode(label);
  }

  @Override
  public Value literal(String lexical, String language, String datatype) {
    if (language != null) {
      return values.createLiteral(lexical, language);
    }
    return datatype == null
        ? values.createLiteral(lexical)
        : values.createLiteral(lexical, values.createIRI(datatype));
  }

  @Override
  public Value triple(Value s, Value p, Value o) {
    return values.createTriple((Resource) s, (IRI) p, o);
  }

  @Override
  public Value defaultGraph() {
    return null;
  }

  @Override
  public String lexical(Value term) {
    return term instanceof Literal literal ? literal.getLabel() : null;
  }

  @Override
  public void append(StringBuilder line, Value term) {
    if (term == null) {
      return;
    }
    if (term instanceof IRI) {
      line.append('<').append(term.stringValue()).append('>');
    } else if (term instanceof BNode blank) {
      line.append("_:").append(blank.getID());
    } else if (term instanceof Literal literal) {
      Terms.appendLiteral(
          line,
          literal.getLabel(),
          literal.getLanguage().orElse(null),
          literal.getDatatype().stringValue());
    } else {
      Triple quoted = (Triple) term;
      line.append("<< ");
      for (Value part : new Value[] {quoted.getSubject(), quoted.getPredicate(), quoted.getObject()}) {
        append(line, part);
        line.append(' ');
      }
      line.append(">>");
    }
  }
}
