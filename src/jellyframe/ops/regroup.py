"""Write the batches of one or many streams as frames of one: kept, regrouped by rows, or one for each input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from jellyframe.defaults import DEFAULT_FRAME_BYTES
from jellyframe.dialects import Dialect, dialect_named
from jellyframe.errors import Advice, EncodeError
from jellyframe.stream.index import INDEX_KEY
from jellyframe.stream.writer import JellyWriter, open_writer

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.options import DialectName, StreamOptions
    from jellyframe.storage.types import Compression, Sink


# Frames that are kept are cut at this size in flat streams: with other tables, a small frame may become very large.
_KEPT_FRAME_BYTES = 64 << 20


class FramesKept(NamedTuple):
    """Frames are kept, with their metadata."""


class FrameRows(NamedTuple):
    """Frames of a number of rows. Metadata, which belongs to the frames of the input, is left out."""

    rows: int


class FramePerInput(NamedTuple):
    """One frame for each input."""


Framing = FramesKept | FrameRows | FramePerInput


class FileSettings(TypedDict, total=False):
    """The arguments of `open_writer` about the file of a stream, without those about frames."""

    delimited: bool
    compression: Compression | None
    restart_every: int | None
    index: bool


class WriterSettings(FileSettings, total=False):
    """The same, and the dialect of the stream."""

    dialect: DialectName


def write_frames(
    inputs: Iterable[Iterable[Batch]],
    sink: Sink,
    options: StreamOptions,
    settings: WriterSettings,
    framing: Framing,
    declared: dict[str, str] | None = None,
) -> JellyWriter:
    """Write the batches of some inputs as one stream, and return the closed writer, which has the counts.

    Namespaces are declared when they first occur or change; those of `declared` have been declared before. A dialect
    without namespaces leaves them out.
    """
    rows = framing.rows if isinstance(framing, FrameRows) else None
    frame_bytes: int | None = DEFAULT_FRAME_BYTES
    if isinstance(framing, FramesKept):
        frame_bytes = _KEPT_FRAME_BYTES
    elif isinstance(framing, FramePerInput):
        frame_bytes = None
    with open_writer(sink, options, frame_rows=rows, frame_bytes=frame_bytes, **settings) as writer:
        dialect = dialect_named(settings.get("dialect", "released"))
        output = _Output(writer, declared or {}, dialect, keeps_frames=isinstance(framing, FramesKept))
        for batches in inputs:
            for batch in batches:
                output.write(batch)
            if isinstance(framing, FramePerInput):
                writer.end_frame()
    return writer


class _Output:
    """A writer, and the namespaces that it has declared so far."""

    def __init__(self, writer: JellyWriter, declared: dict[str, str], dialect: Dialect, *, keeps_frames: bool) -> None:
        self._writer = writer
        self._dialect = dialect
        self._keeps_frames = keeps_frames
        self._declared = declared
        self._metadata: dict[str, bytes] = {}

    def write(self, batch: Batch) -> None:
        if not self._keeps_frames:
            for _frame, name, iri in batch.namespaces:
                self._declare(name, iri)
            self._writer.write_batch(batch)
            return
        if batch.namespaces or batch.metadata or self._metadata:
            self._write_frames(batch)
            return
        self._writer.write_batch_in_frames(batch)

    def _write_frames(self, batch: Batch) -> None:
        namespaces: dict[int, list[tuple[str, str]]] = {}
        for frame, name, iri in batch.namespaces:
            namespaces.setdefault(frame, []).append((name, iri))
        for number, start, stop, is_complete in batch.frame_spans():
            for name, iri in namespaces.get(number, ()):
                self._declare(name, iri)
            self._writer.write_batch(batch, start, stop)
            self._metadata.update(batch.metadata.get(number, {}))
            if is_complete:
                self._end_frame(is_empty=start == stop)

    def _end_frame(self, *, is_empty: bool) -> None:
        metadata, self._metadata = self._metadata, {}
        # An index has offsets in its own file.
        if metadata.pop(INDEX_KEY, None) is not None and is_empty and not metadata:
            return
        if metadata and not self._dialect.has_version_1_1:
            raise EncodeError(
                f"a frame has metadata, which the {self._dialect.name} dialect cannot hold; regrouped frames have none",
                advice=Advice("argument", "frames", "'rows'"),
            )
        self._writer.end_frame(metadata or None)

    def _declare(self, name: str, iri: str) -> None:
        if self._dialect.has_version_1_1 and self._declared.get(name) != iri:
            self._writer.declare_namespace(name, iri)
            self._declared[name] = iri
