"""Convert files of any format to any other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from jellyframe import formats
from jellyframe.batch import Batch
from jellyframe.batch.frames import frames_of
from jellyframe.batch.selection import FrameRange, checked, take_frames, without_graphs
from jellyframe.defaults import DEFAULT_FRAME_ROWS, DEFAULT_RESTART_EVERY
from jellyframe.errors import OptionsError, ParseError
from jellyframe.formats import Format
from jellyframe.formats.settings import BatchInput, JellySettings, ReadSettings, WriteSettings
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.options import VERSION_1_1, DialectName, LayoutName, Limits, LogicalType, OptionChanges, StreamOptions
from jellyframe.storage.names import compression_by_name
from jellyframe.storage.resolving import resolve_inputs
from jellyframe.storage.sinks import ByteSink
from jellyframe.storage.sources import InputFile, total_size

if TYPE_CHECKING:
    from jellyframe.storage.types import Compression, Path, Sink
    from jellyframe.stream.recovery import Damage


class Converted(NamedTuple):
    """The result of a conversion.

    Attributes:
        statements: the number of statements read
    """

    statements: int


class Conversion(NamedTuple):
    """The settings of a conversion; `convert` explains the fields.

    `dialects` has the dialects of Jelly files that are not in that of `read`, by their paths.
    """

    in_format: str | None = None
    out_format: str | None = None
    read: ReadSettings = ReadSettings()
    validate_terms: bool = False
    merge_graphs: bool = False
    frames: FrameRange = FrameRange()
    combine: bool | None = None
    compression: Compression | Literal["none"] | None = None
    layout: LayoutName | None = None
    namespaces: bool | None = None
    base_options: StreamOptions | None = None
    changes: OptionChanges = OptionChanges()
    jelly: JellySettings = JellySettings()
    progress: ProgressCallback | None = None
    dialects: Mapping[str, DialectName] = MappingProxyType({})


def convert(
    inputs: Path | Sequence[Path | None],
    output: Sink,
    *,
    in_format: str | None = None,
    out_format: str | None = None,
    lenient: bool = False,
    base_iri: str | None = None,
    resolve_iris: bool = True,
    generalized: bool = True,
    concatenated: bool = False,
    limits: Limits | None = None,
    on_damage: Callable[[Damage], object] | None = None,
    validate_terms: bool = False,
    merge_graphs: bool = False,
    frames: FrameRange | None = None,
    combine: bool | None = None,
    compression: Compression | Literal["none"] | None = None,
    layout: LayoutName | None = None,
    namespaces: bool | None = None,
    options: StreamOptions | None = None,
    changes: OptionChanges | None = None,
    jelly: JellySettings | None = None,
    progress: ProgressCallback | None = None,
    dialect: DialectName = "released",
    out_dialect: DialectName = "released",
) -> Converted:
    """Convert files of any format into one file of any format.

    A statement that the output cannot hold is an error, and nothing is written.

    Args:
        inputs: a path or several: files, folders (all files of known formats in them), patterns and URIs; None is
            standard input
        output: a path, a URI, or a binary file object
        in_format: the format of the inputs, such as `nt`; by default that of each file name
        out_format: the format of the output; by default that of its name, or N-Quads without a name
        lenient: accept text that specifications forbid, such as IRIs that are not absolute
        base_iri: the IRI against which relative ones are resolved; by default that of each file
        resolve_iris: whether relative IRIs are resolved
        generalized: whether any term may be at any position in N-Triples and N-Quads
        concatenated: whether Jelly inputs may be several concatenated streams
        limits: the limits for untrusted input
        on_damage: continue after damage in Jelly, at the next restart point; the function is called with each loss,
            a `Damage`
        validate_terms: check IRIs (RFC 3987) and language tags (BCP 47)
        merge_graphs: drop the graphs of statements
        frames: the frames of each Jelly input to convert; all by default
        combine: whether all frames make one document of RDF/XML or JSON-LD; by default each frame makes one if frames
            are graphs or datasets
        compression: `gzip`, `zstd` or `none`; by default it follows from the name of the output
        layout: the layout of Parquet and CSV: `struct`, `ntriples` or `flat`
        namespaces: whether prefixes are kept; by default in text only
        options: the options of a Jelly output; by default they follow from the data
        changes: changes to these options
        jelly: arguments of `open_writer` for a Jelly output
        progress: a function that is called with a `Progress`
        dialect: the dialect of Jelly inputs, `released` or `draft`
        out_dialect: the dialect of a Jelly output
    """
    plan = Conversion(
        in_format,
        out_format,
        ReadSettings(
            lenient=lenient,
            base_iri=base_iri,
            resolve_iris=resolve_iris,
            generalized=generalized,
            concatenated=concatenated,
            limits=limits or Limits(),
            on_damage=on_damage,
            dialect=dialect,
        ),
        validate_terms,
        merge_graphs,
        frames or FrameRange(),
        combine,
        compression,
        layout,
        namespaces,
        options,
        changes or {},
        JellySettings(**(jelly or {}), dialect=out_dialect),
        progress,
    )
    return run_conversion(input_paths(inputs, in_format), output, plan)


def input_paths(inputs: Path | Sequence[Path | None], in_format: str | None) -> list[str | None]:
    """Return the files of inputs: files, folders with files of known formats, and patterns."""
    known = formats.FORMATS if in_format is None else (formats.format_by_name(in_format),)
    given = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    paths = resolve_inputs(given, formats.name_test(known))
    if paths.count(None) > 1:
        raise OptionsError("standard input can be read only once")
    if not paths:
        raise OptionsError("there is nothing to convert: name at least one input")
    return paths


def output_format(name: str | None, output: Sink | None) -> Format:
    """Return the format of an output: the given one, or that of its name; N-Quads if it has no name."""
    if name is not None:
        return formats.format_by_name(name)
    if not isinstance(output, str | os.PathLike):
        return formats.NQUADS
    return formats.input_format(None, os.fspath(output), argument="out_format")


def run_conversion(paths: Sequence[str | None], output: Sink, plan: Conversion) -> Converted:
    """Convert files, one after the other, to one output."""
    target = output_format(plan.out_format, output)
    compression = compression_by_name(output) if plan.compression is None else plan.compression
    if compression not in (None, "none") and plan.jelly.get("index"):
        raise OptionsError("an index is of use in files without compression only")
    sources = _Sources(paths, plan)
    with ExitStack() as stack:
        stack.callback(sources.close)
        sources.open_first()
        sink = stack.enter_context(ByteSink(output, None if compression == "none" else compression))
        direct = _DIRECT.get((sources.first_format.name, target.name))
        if direct is None or not direct(sources, sink, plan):
            is_file = isinstance(output, str | os.PathLike)
            _write_documents(sources, sink, target, plan, restarts=is_file)
    return Converted(sources.statements)


# ---- reading ----------------------------------------------------------------------------------------------


class _Sources:
    """The inputs, read one after the other."""

    def __init__(self, paths: Sequence[str | None], plan: Conversion) -> None:
        self._paths = list(paths)
        self._plan = plan
        self._formats = [formats.input_format(plan.in_format, path) for path in paths]
        self._meter = ProgressMeter(plan.progress, total_size(paths))
        self._number = 0
        self.statements = 0
        # The namespaces declared in the inputs read so far.
        self.namespaces: dict[str, str] = {}
        self.file: InputFile | None = None
        self._input: BatchInput | None = None

    @property
    def first_format(self) -> Format:
        return self._formats[0]

    @property
    def is_one(self) -> bool:
        return len(self._paths) == 1

    @property
    def name(self) -> str | None:
        """The name in errors of the input that is being read."""
        return None if self.file is None else self.file.name

    def open_first(self) -> None:
        """Open the first file, so that a missing file is reported immediately.

        Files before it of which nothing can be recovered are left out, unless there are no others.
        """
        self.file = self._open(0)
        while len(self._paths) > 1 and self._is_lost():
            self.close()
            del self._paths[0], self._formats[0]
            self.file = self._open(0)

    def _is_lost(self) -> bool:
        """Return whether nothing of the current file can be recovered. What is lost has then been reported."""
        if self._plan.read.on_damage is None:
            return False
        try:
            self.input  # noqa: B018 - reads the options
        except ParseError:
            return True
        return False

    def _open(self, number: int) -> InputFile:
        accept = formats.accept_header((self._formats[number],))
        return InputFile(self._paths[number], accept=accept, limits=self._plan.read.limits)

    @property
    def input(self) -> BatchInput:
        """The input that is being read."""
        if self._input is None:
            assert self.file is not None
            settings = self._settings(self._number, self._plan.read)
            self._input = formats.open_input(self.file, self._formats[self._number], settings)
        return self._input

    def _settings(self, number: int, read: ReadSettings) -> ReadSettings:
        dialect = self._plan.dialects.get(self._paths[number] or "")
        return read if dialect is None else read._replace(dialect=dialect)

    def use(self, opened: BatchInput) -> None:
        """Use an input that is already open as the first one."""
        self._input = opened

    def close(self) -> None:
        if self._input is not None:
            self._input.close()
        if self.file is not None:
            self.file.close()
        self._input = self.file = None

    def each(self) -> Iterator[BatchInput]:
        """Yield the inputs, each opened when its turn comes."""
        for number in range(len(self._paths)):
            self._number = number
            if number:
                self.file = self._open(number)
            if not number or not self._is_lost():
                yield self.input
            self.close()

    def counted(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield batches of the current input, and report progress."""
        assert self.file is not None
        for batch in self._meter.over(batches, self.file):
            self.statements += len(batch)
            if self._input is not None and self._plan.namespaces is not False:
                self.namespaces.update(self._input.namespaces())
            yield batch

    def has_graph(self) -> bool:
        """Return whether statements may be in named graphs, according to formats and headers."""
        read = self._plan.read
        if read.on_damage is not None:
            # Damage is reported when the input is read, not when its header is.
            read = read._replace(on_damage=lambda _damage: None)
        for number, found in enumerate(self._formats):
            if not found.has_header:
                if found.has_graphs:
                    return True
                continue
            if number == 0:
                told = self.input.has_graph
            elif self._paths[number] is None:
                told = None
            else:
                told = self._header_has_graph(number, self._settings(number, read))
            if told is not False:
                return True
        return False

    def _header_has_graph(self, number: int, read: ReadSettings) -> bool | None:
        try:
            with self._open(number) as file, formats.open_input(file, self._formats[number], read) as opened:
                return opened.has_graph
        except ParseError:
            if read.on_damage is None:
                raise
            # Nothing of this file can be recovered.
            return False

    @property
    def holds_graphs(self) -> bool:
        return any(found.has_graphs for found in self._formats)

    @property
    def has_namespaces(self) -> bool:
        return any(found.has_namespaces for found in self._formats)


# ---- writing ----------------------------------------------------------------------------------------------


def _write_documents(sources: _Sources, sink: ByteSink, target: Format, plan: Conversion, *, restarts: bool) -> None:
    first = sources.input
    is_grouped = first.options is not None and first.options.logical_type.is_grouped
    if not (target.concatenates or target.is_table or plan.combine) and (plan.combine is False or is_grouped):
        _write_each_frame(sources, sink, target, plan)
        return
    # Only tables have to know in advance.
    has_graph = target.has_graphs and not plan.merge_graphs and (not target.is_table or sources.has_graph())
    batches = _wanted_of_all(sources, target, plan)
    start = list(_some(batches, 2))
    # The namespaces are those declared up to the end of the first batch.
    if target.is_stream:
        settings = _stream_settings(sources, plan, start, restarts=restarts)
    else:
        settings = WriteSettings(
            has_graph=has_graph, namespaces=dict(sources.namespaces), source=sources.name, layout=plan.layout
        )
    batches = _fitted(chain(start, batches), settings, sources.name)
    write_output(sink, target, settings, batches, lambda: sources.namespaces if plan.namespaces else {})


def write_output(
    sink: ByteSink,
    target: Format,
    settings: WriteSettings,
    batches: Iterable[Batch],
    namespaces: Callable[[], Mapping[str, str]],
) -> None:
    """Write batches in a format, and before each of them the namespaces that have become known.

    Args:
        sink: where the document goes
        target: its format
        settings: how it is written, and the namespaces that it begins with
        batches: the statements, as the format can hold them
        namespaces: returns those that are known by now
    """
    declared = dict(settings.namespaces)
    output = formats.open_output(sink, target, settings)
    try:
        for batch in batches:
            for name, iri in namespaces().items():
                if declared.get(name) != iri:
                    output.declare(name, iri)
                    declared[name] = iri
            output.write(batch)
        output.close()
    except BaseException:
        output.discard()
        raise


def _fitted(batches: Iterator[Batch], settings: WriteSettings, source: str | None) -> Iterator[Batch]:
    """Yield batches for the output: all with graphs, or none."""
    options = settings.options
    has_graph = settings.has_graph if options is None else options.has_graph
    if has_graph:
        return (batch.fitted(has_graph=True) for batch in batches)
    return without_graphs(batches, merge=False, target="the physical type TRIPLES", source=source)


def _some(batches: Iterator[Batch], count: int) -> Iterator[Batch]:
    for _, batch in zip(range(count), batches, strict=False):
        yield batch


def _wanted_of_all(sources: _Sources, target: Format, plan: Conversion) -> Iterator[Batch]:
    for opened in sources.each():
        yield from _wanted(sources.counted(opened.batches()), sources.name, target, plan)


def _wanted(
    batches: Iterable[Batch],
    source: str | None,
    target: Format,
    plan: Conversion,
    frames: FrameRange | None = None,
) -> Iterator[Batch]:
    """Yield the batches of an input to write, in a form that the target can hold."""
    frames = plan.frames if frames is None else frames
    if not frames.is_all:
        batches = take_frames(batches, frames)
    if plan.validate_terms:
        batches = checked(batches, source)
    if plan.merge_graphs or not target.has_graphs:
        batches = without_graphs(batches, merge=plan.merge_graphs, target=target.title, source=source)
    return iter(batches)


def _stream_settings(sources: _Sources, plan: Conversion, start: list[Batch], *, restarts: bool) -> WriteSettings:
    has_namespaces = bool(plan.namespaces) and sources.has_namespaces
    options = stream_options_for(
        plan, has_namespaces=has_namespaces, has_graphs=_asks_for_quads(sources, start) and not plan.merge_graphs
    )
    jelly = JellySettings(**plan.jelly)
    is_flat = not options.logical_type.is_grouped and jelly.get("delimited", True)
    if "restart_every" not in jelly:
        jelly["restart_every"] = DEFAULT_RESTART_EVERY if restarts and is_flat else None
    return WriteSettings(options=options, jelly=jelly, source=sources.name)


def _asks_for_quads(sources: _Sources, start: list[Batch]) -> bool:
    """Return whether to write quads: not if there is only one batch, without named graphs."""
    if len(start) < 2:
        return any(batch.first_named_graph() is not None for batch in start)
    return sources.holds_graphs and any(batch.has_graph for batch in start)


def stream_options_for(plan: Conversion, *, has_graphs: bool, has_namespaces: bool = False) -> StreamOptions:
    """Return the options of the stream: the given ones, and others that fit the data."""
    changes = plan.changes
    options = plan.base_options
    if options is None:
        options = StreamOptions().resolved(has_graph=has_graphs)
    if has_namespaces:
        options = options.replace(version=VERSION_1_1)
    options = options.replace(**changes)
    if "logical_type" not in changes and (plan.base_options is None or "physical_type" in changes):
        flat = LogicalType.FLAT_QUADS if options.has_graph else LogicalType.FLAT_TRIPLES
        options = options.replace(logical_type=flat)
    return options


def _write_each_frame(sources: _Sources, sink: ByteSink, target: Format, plan: Conversion) -> None:
    """Write a document for each frame, with a line end between them."""
    for opened in sources.each():
        for batch in _frame_batches(sources.counted(opened.batches()), plan.frames):
            settings = WriteSettings(
                namespaces=opened.namespaces() if plan.namespaces is not False else {}, source=sources.name
            )
            output = formats.open_output(sink, target, settings)
            for wanted in _wanted([batch], sources.name, target, plan, FrameRange()):
                output.write(wanted)
            output.close()


def _frame_batches(batches: Iterable[Batch], frames: FrameRange) -> Iterator[Batch]:
    """Yield the wanted frames, each as one batch."""
    for frame in frames_of(batches):
        if frames.stop is not None and frame.number >= frames.stop:
            return
        if frame.number < frames.start:
            continue
        parts = [batch.slice(start, stop) for batch, start, stop in frame.parts()]
        yield Batch.concat(parts) if len(parts) > 1 else parts[0] if parts else Batch.from_statements([], quads=False)


# ---- from Jelly to Jelly text and back, without batches --------------------------------------------------


def _jelly_to_text(sources: _Sources, sink: ByteSink, plan: Conversion) -> bool:
    """Write the rows of a stream as text. Rows are not decoded, so an invalid stream can be shown too."""
    from jellyframe.formats.jelly_text import jelly_to_text

    is_changed = plan.changes or plan.base_options is not None or plan.merge_graphs or plan.validate_terms
    is_draft = plan.read.dialect == "draft"
    if not sources.is_one or is_changed or is_draft or plan.read.on_damage is not None:
        return False
    assert sources.file is not None
    jelly_to_text(sources.file, sink, plan.frames, plan.read.limits)
    return True


def _text_to_jelly(sources: _Sources, sink: ByteSink, plan: Conversion) -> bool:
    """Write the rows of a text unchanged, unless other options are requested."""
    from jellyframe.formats.jelly_text import TextInput

    if not sources.is_one:
        return False
    assert sources.file is not None
    is_one_frame = not plan.jelly.get("delimited", True)
    text = TextInput(
        sources.file,
        plan.read,
        frame_rows=plan.jelly.get("frame_rows") or DEFAULT_FRAME_ROWS,
        is_one_frame=is_one_frame,
    )
    sources.use(text)
    is_unchanged = (
        plan.base_options is None
        and not plan.changes
        and not plan.merge_graphs
        and plan.jelly.get("dialect") != "draft"
        and not plan.jelly.get("index")
        and "restart_every" not in plan.jelly
        and plan.frames.is_all
    )
    if is_unchanged:
        for opened in sources.each():
            batches = sources.counted(opened.batches())
            text.copy(
                checked(batches, sources.name) if plan.validate_terms else batches, sink, delimited=not is_one_frame
            )
    return is_unchanged


_DIRECT: dict[tuple[str, str], Callable[[_Sources, ByteSink, Conversion], bool]] = {
    (formats.JELLY.name, formats.JELLY_TEXT.name): _jelly_to_text,
    (formats.JELLY_TEXT.name, formats.JELLY.name): _text_to_jelly,
}
