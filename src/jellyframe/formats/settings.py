"""Settings for reading and writing formats, and the interfaces of their readers and writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict

from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.options import DEFAULT_LIMITS, DialectName, Limits
from jellyframe.storage.closing import Closeable

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.errors import TextError
    from jellyframe.options import LayoutName, StreamOptions
    from jellyframe.storage.types import Compression
    from jellyframe.stream.recovery import Damage

# The default compression inside of tables.
TABLE_COMPRESSION: Final[Compression] = "zstd"


class ReadSettings(NamedTuple):
    """Settings for reading a source; a format uses those that apply to it.

    `lenient` accepts some input that the specification of the format forbids, such as IRIs that are not absolute.
    Relative IRIs are resolved against `base_iri`, by default the IRI of the file; with `resolve_iris=False` they are
    kept. `generalized` allows any term at any position, in formats that support it. `on_error` is called with the
    errors of invalid lines, in formats of lines. `on_damage` is called with the losses of damaged Jelly, and reading
    continues after them; by default the first error ends reading. Blank nodes without a label get one that begins with
    `label_prefix`, by default a random one, so that those of different documents differ. `dialect` is that of Jelly.
    """

    lenient: bool = False
    base_iri: str | None = None
    resolve_iris: bool = True
    generalized: bool = True
    concatenated: bool = False
    batch_rows: int = DEFAULT_BATCH_ROWS
    limits: Limits = DEFAULT_LIMITS
    label_prefix: str | None = None
    on_error: Callable[[TextError], object] | None = None
    on_damage: Callable[[Damage], object] | None = None
    dialect: DialectName = "released"


class JellySettings(TypedDict, total=False):
    """The arguments of `open_writer` about frames and restart points."""

    frame_rows: int | None
    frame_bytes: int | None
    delimited: bool
    restart_every: int | None
    index: bool
    dialect: DialectName


class WriteSettings(NamedTuple):
    """Settings for writing batches; a format uses those that apply to it.

    `has_graph` is whether there are quads, for formats that have to know in advance; `source` is the name of the input
    in errors. `options` and `jelly` are for streams of Jelly, `layout` and `table_compression` for tables.
    """

    has_graph: bool = True
    namespaces: Mapping[str, str] = MappingProxyType({})
    source: str | None = None
    options: StreamOptions | None = None
    jelly: JellySettings = JellySettings()
    layout: LayoutName | None = None
    table_compression: Compression | None = TABLE_COMPRESSION


class BatchInput(Closeable):
    """A source that is read as batches. `options` are those of a Jelly stream, otherwise None."""

    options: StreamOptions | None = None

    def batches(self) -> Iterator[Batch]:
        """Yield the statements in batches."""
        raise NotImplementedError

    def namespaces(self) -> dict[str, str]:
        """Return the namespaces declared in the part of the source that has been read."""
        return {}

    @property
    def has_graph(self) -> bool | None:
        """Whether statements may be in named graphs; None if it is unknown before reading."""
        return None if self.options is None else self.options.has_graph

    def close(self) -> None:
        """Close the source."""


class BatchOutput:
    """An output of one document, which starts when it is opened and is complete when it is closed."""

    def write(self, batch: Batch) -> None:
        """Write the statements of a batch."""
        raise NotImplementedError

    def declare(self, name: str, iri: str) -> None:
        """Declare a namespace, in formats that allow it after the start."""

    def close(self) -> None:
        """End the document."""

    def discard(self) -> None:
        """Discard the output."""
