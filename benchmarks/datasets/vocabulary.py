"""Terms of well-known vocabularies, in N-Triples syntax."""


def _terms(namespace: str, names: str) -> tuple[str, ...]:
    return tuple(f"<{namespace}{name}>" for name in names.split())


XSD = "http://www.w3.org/2001/XMLSchema#"
XSD_DATE, XSD_DATE_TIME, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, XSD_BOOLEAN, XSD_YEAR = _terms(
    XSD, "date dateTime decimal double integer boolean gYear"
)
RDF_TYPE, RDF_REIFIES = _terms("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "type reifies")
RDFS_LABEL, RDFS_COMMENT, RDFS_SEE_ALSO = _terms("http://www.w3.org/2000/01/rdf-schema#", "label comment seeAlso")
