"""The formats: their names, what each can hold, and which modules read and write it.

A reader is a function `(source, format, ReadSettings) -> BatchInput`, a writer `(sink, format, WriteSettings) ->
BatchOutput`; an entry names them as `module:function` in `jellyframe.formats`, and they are imported when used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jellyframe.errors import Advice, OptionsError, display_name, needed_by
from jellyframe.storage.names import JELLY_EXTENSION, JELLY_MEDIA_TYPE, NameTest, split_compression
from jellyframe.storage.uris import is_http_uri, path_of_http_uri

if TYPE_CHECKING:
    from jellyframe.formats.settings import BatchInput, BatchOutput, ReadSettings, WriteSettings
    from jellyframe.storage.sinks import ByteSink
    from jellyframe.storage.types import Source

# Where a file may be cut so that pieces can be read in parallel.
Cut = Literal["lines", "row groups", "restart points"]


class Format(NamedTuple):
    """A format: its names, what it can hold, and the functions that open it.

    Attributes:
        name: the name in options, such as `nt`
        title: the name in messages, such as `N-Triples`
        other_names: other names in options
        extensions: the file extensions, without the dot
        media_types: the media types, the usual one first
        has_graphs: whether statements may have graphs
        has_quoted_triples: whether terms may be quoted triples
        has_generalized: whether any term may be at any position
        has_namespaces: whether namespaces can be declared
        is_binary: whether it is not text
        is_stream: whether it is a stream of Jelly, which has options
        is_table: whether it has columns, which must be known before the first row is written
        has_stable_labels: whether blank nodes get the same labels each time a file is read
        concatenates: whether documents may follow each other in one file
        has_header: whether a header shows if there are graphs; otherwise the format decides
        cut: where a file may be cut so that its pieces can be read in parallel; None if nowhere
        is_patch: whether it holds changes to RDF data, which `formats.patches` opens
        reader: the function that opens input, as `module:function`; None if there is none
        writer: the function that opens output
    """

    name: str
    title: str
    other_names: tuple[str, ...]
    extensions: tuple[str, ...]
    media_types: tuple[str, ...] = ()
    has_graphs: bool = False
    has_quoted_triples: bool = False
    has_generalized: bool = False
    has_namespaces: bool = False
    is_binary: bool = False
    is_stream: bool = False
    is_table: bool = False
    has_stable_labels: bool = True
    concatenates: bool = True
    has_header: bool = False
    cut: Cut | None = None
    is_patch: bool = False
    reader: str | None = None
    writer: str | None = None


NTRIPLES = Format(
    "nt",
    "N-Triples",
    ("ntriples", "n-triples"),
    ("nt", "ntriples"),
    ("application/n-triples",),
    has_quoted_triples=True,
    has_generalized=True,
    cut="lines",
    reader="ntriples:open_input",
    writer="ntriples:open_output",
)
NQUADS = NTRIPLES._replace(
    name="nq",
    title="N-Quads",
    other_names=("nquads", "n-quads"),
    extensions=("nq", "nquads"),
    media_types=("application/n-quads",),
    has_graphs=True,
)
TURTLE = Format(
    "ttl",
    "Turtle",
    ("turtle",),
    ("ttl", "turtle"),
    ("text/turtle", "application/x-turtle"),
    has_quoted_triples=True,
    has_namespaces=True,
    reader="turtle:open_input",
    writer="turtle_writer:open_output",
)
TRIG = TURTLE._replace(
    name="trig",
    title="TriG",
    other_names=(),
    extensions=("trig",),
    media_types=("application/trig", "application/x-trig"),
    has_graphs=True,
)
RDF_XML = Format(
    "rdfxml",
    "RDF/XML",
    ("rdf-xml", "xml", "rdf"),
    ("rdf", "rdfs", "owl", "xml"),
    ("application/rdf+xml",),
    has_namespaces=True,
    concatenates=False,
    has_stable_labels=False,
    reader="oxigraph:open_input",
    writer="rdfxml_writer:open_output",
)
JSON_LD = Format(
    "jsonld",
    "JSON-LD",
    ("json-ld",),
    ("jsonld", "json-ld"),
    ("application/ld+json",),
    has_graphs=True,
    has_namespaces=True,
    concatenates=False,
    has_stable_labels=False,
    reader="oxigraph:open_input",
    writer="jsonld_writer:open_output",
)
JELLY_TEXT = Format(
    "jelly-text",
    "Jelly text",
    ("jellytext",),
    ("jelly.txt",),
    has_graphs=True,
    has_quoted_triples=True,
    has_generalized=True,
    has_namespaces=True,
    has_header=True,
    is_stream=True,
    reader="jelly_text:open_input",
    writer="jelly_text:open_output",
)
JELLY = Format(
    "jelly",
    "Jelly",
    (),
    (JELLY_EXTENSION,),
    (JELLY_MEDIA_TYPE,),
    has_graphs=True,
    has_quoted_triples=True,
    has_generalized=True,
    has_namespaces=True,
    is_binary=True,
    is_stream=True,
    has_header=True,
    cut="restart points",
    reader="jelly:open_input",
    writer="jelly:open_output",
)
PARQUET = Format(
    "parquet",
    "Parquet",
    (),
    ("parquet",),
    ("application/vnd.apache.parquet",),
    has_graphs=True,
    has_quoted_triples=True,
    has_generalized=True,
    is_binary=True,
    is_table=True,
    concatenates=False,
    has_header=True,
    cut="row groups",
    reader="tables:open_parquet",
    writer="tables:open_output",
)
CSV = Format(
    "csv",
    "CSV",
    (),
    ("csv",),
    ("text/csv",),
    has_graphs=True,
    has_quoted_triples=True,
    has_generalized=True,
    is_table=True,
    concatenates=False,
    has_header=True,
    reader="tables:open_csv",
    writer="tables:open_output",
)
JELLY_PATCH = Format(
    "jelly-patch",
    "Jelly-Patch",
    ("jellyp", "jellypatch"),
    ("jellyp",),
    ("application/x-jelly-rdf-patch",),
    has_graphs=True,
    has_quoted_triples=True,
    has_generalized=True,
    has_namespaces=True,
    is_binary=True,
    is_stream=True,
    has_header=True,
    cut="restart points",
    is_patch=True,
)
RDF_PATCH = Format(
    "rdfp",
    "RDF Patch",
    ("rdfpatch", "rdf-patch"),
    ("rdfp", "rdfpatch"),
    ("application/rdf-patch",),
    has_graphs=True,
    has_quoted_triples=True,
    has_generalized=True,
    has_namespaces=True,
    is_patch=True,
)

TEXT_FORMATS = (NTRIPLES, NQUADS, TURTLE, TRIG, RDF_XML, JSON_LD)
FORMATS = (*TEXT_FORMATS, JELLY, JELLY_TEXT, PARQUET, CSV)
# Formats of changes to RDF data, which functions for RDF data refuse.
PATCH_FORMATS = (JELLY_PATCH, RDF_PATCH)
# Formats of the data files in a folder.
FOLDER_FORMATS = (*TEXT_FORMATS, JELLY, PARQUET)
# Those in which large data is written, since its files can be read in pieces.
CUT_FORMATS = tuple(known for known in FOLDER_FORMATS if known.cut is not None)


# ---- opening ----------------------------------------------------------------------------------------------


def open_input(source: Source, found: Format, settings: ReadSettings | None = None) -> BatchInput:
    """Open an input as batches. Close the returned object, or use it in a `with` statement.

    Args:
        source: a path, a URI, bytes, or a binary file object
        found: the format of the source
        settings: how to read it
    """
    from jellyframe.formats.settings import ReadSettings

    opened: BatchInput = _function(found, found.reader, "read")(source, found, settings or ReadSettings())
    return opened


def open_output(sink: ByteSink, found: Format, settings: WriteSettings | None = None) -> BatchOutput:
    """Open an output for batches. `close` ends the document, but leaves the sink open.

    Args:
        sink: the sink of the bytes
        found: the format to write
        settings: how to write it
    """
    from jellyframe.formats.settings import WriteSettings

    opened: BatchOutput = _function(found, found.writer, "written")(sink, found, settings or WriteSettings())
    return opened


def _function(found: Format, place: str | None, what: str) -> Any:
    if place is None:
        raise OptionsError(f"{found.title} cannot be {what}")
    module, _, function = place.partition(":")
    with needed_by(found.title):
        return getattr(import_module(f"jellyframe.formats.{module}"), function)


# ---- by name ----------------------------------------------------------------------------------------------


def names(formats: tuple[Format, ...]) -> str:
    """Return the names of `formats`, for help and errors."""
    return ", ".join(known.name for known in formats)


def format_by_name(name: str, formats: tuple[Format, ...] = FORMATS) -> Format:
    """Return the format with a `name`, of some `formats`. Raises OptionsError if there is none."""
    wanted = name.lower().lstrip(".")
    found = _named(wanted, formats)
    if found is not None:
        return found
    _refuse_other_kind(_named(wanted, (*FORMATS, *PATCH_FORMATS)), formats, repr(name))
    raise OptionsError(f"the format {name!r} is not one of {names(formats)}")


def _named(wanted: str, formats: tuple[Format, ...]) -> Format | None:
    return next((known for known in formats if wanted in (known.name, *known.other_names)), None)


def _refuse_other_kind(found: Format | None, formats: tuple[Format, ...], what: str) -> None:
    """Raise if a format holds changes where RDF data is expected, or the reverse."""
    if found is None or any(known.is_patch == found.is_patch for known in formats):
        return
    if found.is_patch:
        raise OptionsError(
            f"{what} is {found.title}, changes to RDF data and not such data",
            advice=Advice("function", "open_patch_input", "jellyframe patch"),
        )
    raise OptionsError(
        f"{what} is {found.title}, RDF data and not changes to it: see `jellyframe rdf`, or `jellyframe patch diff` "
        "for the changes between two data sets"
    )


def format_by_path(path: str, formats: tuple[Format, ...] = FORMATS) -> Format | None:
    """Return the format of the name of the file at a `path`, of some `formats`, or None."""
    stem = split_compression(path_of_http_uri(path))[0].lower()
    for known in formats:
        if any(stem.endswith(f".{extension}") for extension in known.extensions):
            return known
    return None


def name_test(formats: tuple[Format, ...]) -> NameTest:
    """Return a function that returns whether a file name is that of one of some `formats`."""
    return lambda name: format_by_path(name, formats) is not None


def format_by_media_type(media_type: str, formats: tuple[Format, ...] = FORMATS) -> Format | None:
    """Return the format with a `media_type`, of some `formats`, or None."""
    wanted = media_type.partition(";")[0].strip().lower()
    return next((known for known in formats if wanted in known.media_types), None)


def accept_header(formats: tuple[Format, ...]) -> str:
    """Return the Accept header for one of `formats`, preferably the first, or otherwise anything."""
    types = [media_type for known in formats for media_type in known.media_types]
    wanted = [f"{media_type}{';q=0.9' if number else ''}" for number, media_type in enumerate(types)]
    return ", ".join((*wanted, "*/*;q=0.1"))


def format_of_server(url: str, formats: tuple[Format, ...] = FORMATS, argument: str = "in_format") -> Format:
    """Return the format in which a web server sends a file."""
    from jellyframe.storage.http import http_info

    media_type = http_info(url, accept_header(negotiated_formats(formats))).media_type
    found = None if media_type is None else format_by_media_type(media_type, formats)
    if found is None:
        raise OptionsError(
            f"{display_name(url)}: the format cannot be recognised by the name, nor by the media type of the server, "
            f"{media_type or 'which sends none'} ({names(formats)})",
            advice=Advice("argument", argument, "…"),
        )
    return found


def negotiated_formats(formats: tuple[Format, ...] = FORMATS) -> tuple[Format, ...]:
    """Return the formats with media types, Jelly first."""
    return tuple(sorted((known for known in formats if known.media_types), key=lambda known: known is not JELLY))


def input_format(
    name: str | None, path: str | None, formats: tuple[Format, ...] = FORMATS, argument: str = "in_format"
) -> Format:
    """Return the format of an input.

    Args:
        name: the name of the format; by default that of the file name, or of the media type of a web server
        path: the path of the file; None for standard input
        formats: the formats to choose from
        argument: the argument that an error advises, if the format is unknown

    Raises:
        OptionsError: if the format is unknown
    """
    if name is not None:
        return format_by_name(name, formats)
    found = None if path is None else format_by_path(path, formats)
    if found is None and path is not None and is_http_uri(path):
        return format_of_server(path, formats, argument)
    if found is None:
        if path is not None:
            _refuse_other_kind(format_by_path(path, (*FORMATS, *PATCH_FORMATS)), formats, display_name(path))
        reason = (
            "the format of standard input is not known"
            if path is None
            else f"{display_name(path)}: the format cannot be recognised by the name"
        )
        raise OptionsError(f"{reason} ({names(formats)})", advice=Advice("argument", argument, "…"))
    return found


def patch_input_format(name: str | None, path: str | None) -> str:
    """Return the `name` of a format of patches, or that of a `path`; Jelly-Patch if both are None."""
    return JELLY_PATCH.name if name is None and path is None else input_format(name, path, PATCH_FORMATS).name
