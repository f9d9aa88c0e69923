from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RdfStreamType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RDF_STREAM_TYPE_UNSPECIFIED: _ClassVar[RdfStreamType]
    RDF_STREAM_TYPE_TRIPLES: _ClassVar[RdfStreamType]
    RDF_STREAM_TYPE_QUADS: _ClassVar[RdfStreamType]
    RDF_STREAM_TYPE_GRAPHS: _ClassVar[RdfStreamType]
RDF_STREAM_TYPE_UNSPECIFIED: RdfStreamType
RDF_STREAM_TYPE_TRIPLES: RdfStreamType
RDF_STREAM_TYPE_QUADS: RdfStreamType
RDF_STREAM_TYPE_GRAPHS: RdfStreamType

class RdfIri(_message.Message):
    __slots__ = ("prefix_id", "name_id")
    PREFIX_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_ID_FIELD_NUMBER: _ClassVar[int]
    prefix_id: int
    name_id: int
    def __init__(self, prefix_id: _Optional[int] = ..., name_id: _Optional[int] = ...) -> None: ...

class RdfLiteralSimple(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RdfLiteral(_message.Message):
    __slots__ = ("lex", "simple", "langtag", "datatype")
    LEX_FIELD_NUMBER: _ClassVar[int]
    SIMPLE_FIELD_NUMBER: _ClassVar[int]
    LANGTAG_FIELD_NUMBER: _ClassVar[int]
    DATATYPE_FIELD_NUMBER: _ClassVar[int]
    lex: str
    simple: RdfLiteralSimple
    langtag: str
    datatype: int
    def __init__(self, lex: _Optional[str] = ..., simple: _Optional[_Union[RdfLiteralSimple, _Mapping]] = ..., langtag: _Optional[str] = ..., datatype: _Optional[int] = ...) -> None: ...

class RdfRepeat(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RdfTerm(_message.Message):
    __slots__ = ("iri", "bnode", "literal", "triple_term", "repeat")
    IRI_FIELD_NUMBER: _ClassVar[int]
    BNODE_FIELD_NUMBER: _ClassVar[int]
    LITERAL_FIELD_NUMBER: _ClassVar[int]
    TRIPLE_TERM_FIELD_NUMBER: _ClassVar[int]
    REPEAT_FIELD_NUMBER: _ClassVar[int]
    iri: RdfIri
    bnode: str
    literal: RdfLiteral
    triple_term: RdfTriple
    repeat: RdfRepeat
    def __init__(self, iri: _Optional[_Union[RdfIri, _Mapping]] = ..., bnode: _Optional[str] = ..., literal: _Optional[_Union[RdfLiteral, _Mapping]] = ..., triple_term: _Optional[_Union[RdfTriple, _Mapping]] = ..., repeat: _Optional[_Union[RdfRepeat, _Mapping]] = ...) -> None: ...

class RdfTriple(_message.Message):
    __slots__ = ("s", "p", "o")
    S_FIELD_NUMBER: _ClassVar[int]
    P_FIELD_NUMBER: _ClassVar[int]
    O_FIELD_NUMBER: _ClassVar[int]
    s: RdfTerm
    p: RdfTerm
    o: RdfTerm
    def __init__(self, s: _Optional[_Union[RdfTerm, _Mapping]] = ..., p: _Optional[_Union[RdfTerm, _Mapping]] = ..., o: _Optional[_Union[RdfTerm, _Mapping]] = ...) -> None: ...

class RdfDefaultGraph(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RdfGraph(_message.Message):
    __slots__ = ("iri", "bnode", "literal", "default_graph", "repeat")
    IRI_FIELD_NUMBER: _ClassVar[int]
    BNODE_FIELD_NUMBER: _ClassVar[int]
    LITERAL_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_GRAPH_FIELD_NUMBER: _ClassVar[int]
    REPEAT_FIELD_NUMBER: _ClassVar[int]
    iri: RdfIri
    bnode: str
    literal: RdfLiteral
    default_graph: RdfDefaultGraph
    repeat: RdfRepeat
    def __init__(self, iri: _Optional[_Union[RdfIri, _Mapping]] = ..., bnode: _Optional[str] = ..., literal: _Optional[_Union[RdfLiteral, _Mapping]] = ..., default_graph: _Optional[_Union[RdfDefaultGraph, _Mapping]] = ..., repeat: _Optional[_Union[RdfRepeat, _Mapping]] = ...) -> None: ...

class RdfQuad(_message.Message):
    __slots__ = ("s", "p", "o", "g")
    S_FIELD_NUMBER: _ClassVar[int]
    P_FIELD_NUMBER: _ClassVar[int]
    O_FIELD_NUMBER: _ClassVar[int]
    G_FIELD_NUMBER: _ClassVar[int]
    s: RdfTerm
    p: RdfTerm
    o: RdfTerm
    g: RdfGraph
    def __init__(self, s: _Optional[_Union[RdfTerm, _Mapping]] = ..., p: _Optional[_Union[RdfTerm, _Mapping]] = ..., o: _Optional[_Union[RdfTerm, _Mapping]] = ..., g: _Optional[_Union[RdfGraph, _Mapping]] = ...) -> None: ...

class RdfGraphStart(_message.Message):
    __slots__ = ("graph",)
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    graph: RdfGraph
    def __init__(self, graph: _Optional[_Union[RdfGraph, _Mapping]] = ...) -> None: ...

class RdfGraphEnd(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RdfNameEntry(_message.Message):
    __slots__ = ("id", "value")
    ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    id: int
    value: str
    def __init__(self, id: _Optional[int] = ..., value: _Optional[str] = ...) -> None: ...

class RdfPrefixEntry(_message.Message):
    __slots__ = ("id", "value")
    ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    id: int
    value: str
    def __init__(self, id: _Optional[int] = ..., value: _Optional[str] = ...) -> None: ...

class RdfDatatypeEntry(_message.Message):
    __slots__ = ("id", "value")
    ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    id: int
    value: str
    def __init__(self, id: _Optional[int] = ..., value: _Optional[str] = ...) -> None: ...

class RdfStreamOptions(_message.Message):
    __slots__ = ("stream_name", "stream_type", "generalized_statements", "use_repeat", "rdf_star", "max_name_table_size", "max_prefix_table_size", "max_datatype_table_size", "version")
    STREAM_NAME_FIELD_NUMBER: _ClassVar[int]
    STREAM_TYPE_FIELD_NUMBER: _ClassVar[int]
    GENERALIZED_STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    USE_REPEAT_FIELD_NUMBER: _ClassVar[int]
    RDF_STAR_FIELD_NUMBER: _ClassVar[int]
    MAX_NAME_TABLE_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_PREFIX_TABLE_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_DATATYPE_TABLE_SIZE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    stream_name: str
    stream_type: RdfStreamType
    generalized_statements: bool
    use_repeat: bool
    rdf_star: bool
    max_name_table_size: int
    max_prefix_table_size: int
    max_datatype_table_size: int
    version: int
    def __init__(self, stream_name: _Optional[str] = ..., stream_type: _Optional[_Union[RdfStreamType, str]] = ..., generalized_statements: _Optional[bool] = ..., use_repeat: _Optional[bool] = ..., rdf_star: _Optional[bool] = ..., max_name_table_size: _Optional[int] = ..., max_prefix_table_size: _Optional[int] = ..., max_datatype_table_size: _Optional[int] = ..., version: _Optional[int] = ...) -> None: ...

class RdfStreamRow(_message.Message):
    __slots__ = ("options", "triple", "quad", "graph_start", "graph_end", "name", "prefix", "datatype")
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    TRIPLE_FIELD_NUMBER: _ClassVar[int]
    QUAD_FIELD_NUMBER: _ClassVar[int]
    GRAPH_START_FIELD_NUMBER: _ClassVar[int]
    GRAPH_END_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PREFIX_FIELD_NUMBER: _ClassVar[int]
    DATATYPE_FIELD_NUMBER: _ClassVar[int]
    options: RdfStreamOptions
    triple: RdfTriple
    quad: RdfQuad
    graph_start: RdfGraphStart
    graph_end: RdfGraphEnd
    name: RdfNameEntry
    prefix: RdfPrefixEntry
    datatype: RdfDatatypeEntry
    def __init__(self, options: _Optional[_Union[RdfStreamOptions, _Mapping]] = ..., triple: _Optional[_Union[RdfTriple, _Mapping]] = ..., quad: _Optional[_Union[RdfQuad, _Mapping]] = ..., graph_start: _Optional[_Union[RdfGraphStart, _Mapping]] = ..., graph_end: _Optional[_Union[RdfGraphEnd, _Mapping]] = ..., name: _Optional[_Union[RdfNameEntry, _Mapping]] = ..., prefix: _Optional[_Union[RdfPrefixEntry, _Mapping]] = ..., datatype: _Optional[_Union[RdfDatatypeEntry, _Mapping]] = ...) -> None: ...

class RdfStreamFrame(_message.Message):
    __slots__ = ("rows",)
    ROWS_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[RdfStreamRow]
    def __init__(self, rows: _Optional[_Iterable[_Union[RdfStreamRow, _Mapping]]] = ...) -> None: ...
