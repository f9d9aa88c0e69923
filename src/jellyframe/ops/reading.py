"""Read pieces of files of any format as batches."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from jellyframe import formats
from jellyframe.batch import Batch, NamespaceDeclaration
from jellyframe.errors import BAD_INPUT, JellyError, StorageError, TextError
from jellyframe.formats.lines import LinePlace, LineRange
from jellyframe.formats.patches import open_patch_input
from jellyframe.formats.settings import BatchInput, ReadSettings
from jellyframe.kernel.fingerprint_cy import mask_of_operations
from jellyframe.ops.bad_input import FAILFAST, MissingFileError
from jellyframe.ops.filters import RowFilter
from jellyframe.ops.inputs import PER_FILE, Inputs
from jellyframe.ops.patches.committed import ALL_ROWS, MARKS, CommittedRows
from jellyframe.patch.reader import PatchReader
from jellyframe.storage.names import name_digest
from jellyframe.stream.reader import open_reader
from jellyframe.stream.recovery import Damage
from jellyframe.stream.splits import Piece

OnError: TypeAlias = Callable[[JellyError], object]


def piece_batches(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Yield the wanted statements of a piece. Bad input is passed to `on_error`, which may raise it."""
    if inputs.formats[piece.file].is_patch and (inputs.options.committed or inputs.options.operations):
        batches = _wanted_rows(piece, inputs, on_error)
    else:
        batches = _read(piece, inputs, on_error)
    if inputs.meter is not None:
        batches = inputs.meter.over_file(batches)
    if inputs.options.blank_nodes == PER_FILE:
        batches = _with_own_labels(batches, piece)
    row_filter = RowFilter(inputs.options.filters)
    return map(row_filter.apply, batches) if row_filter else batches


def _read(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    found = inputs.formats[piece.file]
    try:
        yield from (_read_patch if found.is_patch else _READERS[found.cut])(piece, inputs, on_error)
    except MissingFileError as error:
        on_error(error)


@contextmanager
def _opened(piece: Piece, inputs: Inputs, *, in_order: bool = True) -> Iterator[Any]:
    """Open the file of a piece. Raises MissingFileError if the file no longer exists.

    `in_order` is whether it is read from start to end, so that its position is the number of bytes read.
    """
    try:
        source = piece.file.open()
    except OSError as error:
        if piece.file.storage.exists(piece.file.path):
            raise
        raise MissingFileError.of(piece.file) from error
    with source:
        if inputs.meter is None:
            yield source
            return
        with inputs.meter.reading(source if in_order else None, piece.file.size):
            yield source


def _read_jelly(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Read a piece of a Jelly file. In the tolerant modes, damage loses the rows up to the next restart point."""
    options = inputs.options
    with (
        _opened(piece, inputs) as source,
        open_reader(
            source,
            limits=options.limits,
            concatenated=options.concatenated,
            batch_rows=options.batch_rows,
            byte_range=piece.byte_range,
            on_damage=None if options.mode == FAILFAST else _damage_reports(piece, on_error),
            dialect=options.dialect,
        ) as reader,
    ):
        try:
            yield from reader.batches()
        except BAD_INPUT as error:
            on_error(_placed(error, piece, error.message))


def _damage_reports(piece: Piece, on_error: OnError) -> Callable[[Damage], None]:
    """Return a function that passes damage of a piece on as an error."""

    def report(damage: Damage) -> None:
        rest = "to the end" if damage.stop is None else f"to {damage.stop}"
        on_error(_placed(damage.error, piece, f"bytes {damage.start} {rest} are lost: {damage.error.message}"))

    return report


def _read_patch(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Read a piece of patches. In the tolerant modes, damage loses the rows up to the next restart point, or a line.

    Transactions that are partly lost are aborted then.
    """
    with _opened(piece, inputs) as source:
        try:
            with _patch_reader(source, piece, inputs, None if inputs.options.mode == FAILFAST else on_error) as reader:
                yield from reader.batches()
        except BAD_INPUT as error:
            on_error(_placed(error, piece, error.message))


@contextmanager
def opened_patches(piece: Piece, inputs: Inputs) -> Iterator[PatchReader]:
    """Open a piece of patches. Errors that are raised in the block get the name of the file."""
    with _opened(piece, inputs) as source:
        try:
            with _patch_reader(source, piece, inputs, None) as reader:
                yield reader
        except BAD_INPUT as error:
            raise _placed(error, piece, error.message) from error


def _patch_reader(source: Any, piece: Piece, inputs: Inputs, on_error: OnError | None) -> PatchReader:
    options = inputs.options
    bad_line = None if on_error is None else partial(_report, piece=piece, on_error=on_error)
    return open_patch_input(
        source,
        inputs.formats[piece.file],
        limits=options.limits,
        strict=options.strict,
        lenient=options.lenient,
        concatenated=options.concatenated,
        batch_rows=options.batch_rows,
        byte_range=piece.byte_range,
        on_error=bad_line,
        on_damage=None if on_error is None else _damage_reports(piece, on_error),
    )


def _wanted_rows(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Read the wanted rows of patches. A first pass finds out which are committed."""
    options = inputs.options
    wanted = sum(1 << operation for operation in options.operations) or ALL_ROWS
    if not options.committed:
        for batch in _read(piece, inputs, on_error):
            mask = mask_of_operations(batch.operations, wanted)
            if mask is not None:
                yield batch.filter(mask[: len(batch)])
        return
    is_first = True

    def read() -> Iterator[Batch]:
        nonlocal is_first
        # Bad input that does not stop the first pass is reported by the second one.
        report = _ignore if is_first and options.mode != FAILFAST else on_error
        is_first = False
        return _read(piece, inputs, report)

    with CommittedRows(read) as rows:
        yield from rows.rows(wanted & ~MARKS)


def _ignore(_error: JellyError) -> None:
    """Ignore an error."""


def _placed(error: JellyError, piece: Piece, message: str) -> JellyError:
    """Return an error with the name of its file. The frame is left out if its number is unknown."""
    frame = error.frame
    if frame is not None:
        # Frames are counted from the start of the piece.
        frame = frame + piece.first_frame if piece.first_frame or not piece.start else None
    return type(error)(
        message, source=piece.file.name, frame=frame, row=error.row, offset=error.offset, advice=error.advice
    )


def _read_lines(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    with _opened(piece, inputs) as source:
        lines: Any = source if piece.stop is None else LineRange(source, piece)
        place = LinePlace(piece, 0 if piece.stop is None else lines.start)

        def bad_line(error: TextError) -> None:
            on_error(place.in_whole_file(error))

        settings = _settings(piece, inputs)._replace(on_error=bad_line)
        try:
            with formats.open_input(lines, inputs.formats[piece.file], settings) as opened:
                yield from opened.batches()
        except JellyError as error:
            # Not an error of a line, but probably damaged compressed data.
            _report(error, piece, on_error)


def _read_document(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Read a document, of which the part after the first error is lost."""
    with _opened(piece, inputs) as source:
        try:
            with formats.open_input(source, inputs.formats[piece.file], _settings(piece, inputs)) as opened:
                yield from _declared(opened)
        except JellyError as error:
            _report(error, piece, on_error)


def _read_parquet(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Read the row groups that begin in a piece."""
    from jellyframe.formats.tables import ParquetInput

    with _opened(piece, inputs, in_order=False) as source:
        try:
            with ParquetInput(source, _settings(piece, inputs), start=piece.start, stop=piece.end) as opened:
                yield from _declared(opened)
        except JellyError as error:
            _report(error, piece, on_error)


def _declared(opened: BatchInput) -> Iterator[Batch]:
    """Yield batches with the namespaces that were declared before or in them, as in batches of Jelly."""
    known: dict[str, str] = {}
    for batch in opened.batches():
        found, known = _new_namespaces(opened, known)
        yield batch.replace(namespaces=found) if found else batch
    found, known = _new_namespaces(opened, known)
    if found:
        yield Batch.from_statements(()).replace(namespaces=found)


def _new_namespaces(opened: BatchInput, known: dict[str, str]) -> tuple[list[NamespaceDeclaration], dict[str, str]]:
    namespaces = opened.namespaces()
    return [NamespaceDeclaration(0, *each) for each in namespaces.items() if known.get(each[0]) != each[1]], namespaces


_READERS = {
    "restart points": _read_jelly,
    "lines": _read_lines,
    "row groups": _read_parquet,
    None: _read_document,
}


def _settings(piece: Piece, inputs: Inputs) -> ReadSettings:
    """Return the settings for reading a file. Labels of blank nodes follow from the file, so they are stable."""
    file = piece.file
    if inputs.options.labels_by_place:
        prefix = f"f{inputs.files.index(file)}-"
    else:
        prefix = f"b{hashlib.blake2b(f'{file.name} {file.size} {file.modified}'.encode(), digest_size=8).hexdigest()}-"
    return ReadSettings(
        lenient=inputs.options.lenient,
        base_iri=Path(file.path).as_uri() if file.storage.is_local else file.storage.display(file.path),
        batch_rows=inputs.options.batch_rows,
        limits=inputs.options.limits,
        label_prefix=prefix,
    )


def _report(error: JellyError, piece: Piece, on_error: OnError) -> None:
    """Report an error in the content of a file. An error of its storage is raised: it may be temporary."""
    if isinstance(error, StorageError):
        raise error
    on_error(error.replace(source=piece.file.name))


def _with_own_labels(batches: Iterator[Batch], piece: Piece) -> Iterator[Batch]:
    """Give blank nodes labels that no other file has, by a prefix made of the file's name."""
    from jellyframe.kernel.columns_cy import prefix_labels

    digest = name_digest(piece.file.name)
    for batch in batches:
        prefix_labels(batch.terms, f"f{digest}-".encode())
        yield batch
