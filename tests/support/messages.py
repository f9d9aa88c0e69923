"""Jelly's messages as protobuf classes, made from the field tables in a descriptor pool of their own.

They know nothing of the package under test, which makes them an independent witness of the wire format. The
pool is private because another library in the same process may have registered the same message names.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "eu.ostrzyciel.jelly.core.proto.v1"

_SPO = " ".join(
    f"{role}_iri:RdfIri={first}/{oneof} {role}_bnode:string={first + 1}/{oneof} "
    f"{role}_literal:RdfLiteral={first + 2}/{oneof} {role}_triple_term:RdfTriple={first + 3}/{oneof}"
    for role, oneof, first in (("s", "subject", 1), ("p", "predicate", 5), ("o", "object", 9))
)

# message: fields as name:type=number, with /oneof for a member of a oneof
_TABLES = {
    "RdfIri": "prefix_id:uint32=1 name_id:uint32=2",
    "RdfLiteral": "lex:string=1 langtag:string=2/literalKind datatype:uint32=3/literalKind",
    "RdfDefaultGraph": "",
    "RdfGraphEnd": "",
    "RdfTriple": _SPO,
    "RdfQuad": _SPO + " g_iri:RdfIri=13/graph g_bnode:string=14/graph"
    " g_default_graph:RdfDefaultGraph=15/graph g_literal:RdfLiteral=16/graph",
    "RdfGraphStart": "g_iri:RdfIri=1/graph g_bnode:string=2/graph"
    " g_default_graph:RdfDefaultGraph=3/graph g_literal:RdfLiteral=4/graph",
    "RdfNamespaceDeclaration": "name:string=1 value:RdfIri=2",
    "RdfNameEntry": "id:uint32=1 value:string=2",
    "RdfPrefixEntry": "id:uint32=1 value:string=2",
    "RdfDatatypeEntry": "id:uint32=1 value:string=2",
    # The two enums are plain integers here: the wire does not tell them apart.
    "RdfStreamOptions": "stream_name:string=1 physical_type:int32=2 generalized_statements:bool=3"
    " rdf_star:bool=4 max_name_table_size:uint32=9 max_prefix_table_size:uint32=10"
    " max_datatype_table_size:uint32=11 logical_type:int32=14 version:uint32=15",
    "RdfStreamRow": "options:RdfStreamOptions=1/row triple:RdfTriple=2/row quad:RdfQuad=3/row"
    " graph_start:RdfGraphStart=4/row graph_end:RdfGraphEnd=5/row namespace:RdfNamespaceDeclaration=6/row"
    " name:RdfNameEntry=9/row prefix:RdfPrefixEntry=10/row datatype:RdfDatatypeEntry=11/row",
    # Jelly-Patch has these in a package of its own, of which the wire tells nothing.
    "RdfPatchTransactionStart": "",
    "RdfPatchTransactionCommit": "",
    "RdfPatchTransactionAbort": "",
    "RdfPatchPunctuation": "",
    "RdfPatchNamespace": "name:string=1 value:RdfIri=2 g_iri:RdfIri=3/graph g_bnode:string=4/graph"
    " g_default_graph:RdfDefaultGraph=5/graph g_literal:RdfLiteral=6/graph",
    "RdfPatchHeader": "key:string=1 h_iri:RdfIri=2/value h_bnode:string=3/value h_literal:RdfLiteral=4/value"
    " h_triple_term:RdfTriple=5/value",
    "RdfPatchOptions": "statement_type:int32=1 stream_type:int32=2 generalized_statements:bool=3 rdf_star:bool=4"
    " max_name_table_size:uint32=9 max_prefix_table_size:uint32=10 max_datatype_table_size:uint32=11 version:uint32=15",
    "RdfPatchRow": "options:RdfPatchOptions=1/row statement_add:RdfQuad=2/row statement_delete:RdfQuad=3/row"
    " namespace_add:RdfPatchNamespace=4/row namespace_delete:RdfPatchNamespace=5/row"
    " transaction_start:RdfPatchTransactionStart=6/row transaction_commit:RdfPatchTransactionCommit=7/row"
    " transaction_abort:RdfPatchTransactionAbort=8/row name:RdfNameEntry=11/row prefix:RdfPrefixEntry=12/row"
    " datatype:RdfDatatypeEntry=13/row header:RdfPatchHeader=14/row punctuation:RdfPatchPunctuation=15/row",
    "RdfPatchFrame": "rows:*RdfPatchRow=1",
    "RdfStreamFrame": "rows:*RdfStreamRow=1 metadata:*RdfStreamFrame.MetadataEntry=15",
}

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "uint32": _Field.TYPE_UINT32,
    "int32": _Field.TYPE_INT32,
    "bool": _Field.TYPE_BOOL,
}


def _add_fields(message: descriptor_pb2.DescriptorProto, table: str) -> None:
    oneofs: list[str] = []
    for entry in table.split():
        name, _, rest = entry.partition(":")
        kind, _, place = rest.partition("=")
        digits, _, oneof = place.partition("/")
        field = message.field.add(name=name, number=int(digits), label=_Field.LABEL_OPTIONAL)
        if kind.startswith("*"):
            field.label = _Field.LABEL_REPEATED
            kind = kind[1:]
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
        else:
            field.type = _Field.TYPE_MESSAGE
            field.type_name = f".{PACKAGE}.{kind}"
        if oneof:
            if oneof not in oneofs:
                oneofs.append(oneof)
                message.oneof_decl.add(name=oneof)
            field.oneof_index = oneofs.index(oneof)


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="witness.proto", package=PACKAGE, syntax="proto3")
    for name, table in _TABLES.items():
        _add_fields(file.message_type.add(name=name), table)
    entry = file.message_type[-1].nested_type.add(name="MetadataEntry")
    _add_fields(entry, "key:string=1 value:bytes=2")
    entry.options.map_entry = True
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _TABLES}


_CLASSES = _classes()
RdfStreamFrame: Any = _CLASSES["RdfStreamFrame"]
RdfStreamRow: Any = _CLASSES["RdfStreamRow"]
RdfStreamOptions: Any = _CLASSES["RdfStreamOptions"]
RdfTriple: Any = _CLASSES["RdfTriple"]
RdfQuad: Any = _CLASSES["RdfQuad"]
RdfGraphStart: Any = _CLASSES["RdfGraphStart"]
RdfPatchFrame: Any = _CLASSES["RdfPatchFrame"]
