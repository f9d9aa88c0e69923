"""Pieces of files of any format as batches."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from jellyframe import formats
from jellyframe.batch import Batch
from jellyframe.errors import JellyError, ParseError, StorageError, TextError
from jellyframe.formats import ntriples
from jellyframe.formats.lines import LinePlace, LineRange
from jellyframe.ops.bad_input import BAD_INPUT, MissingFileError
from jellyframe.ops.filters import RowFilter
from jellyframe.ops.inputs import LINE_FORMATS, PER_FILE, InputOptions, Inputs
from jellyframe.stream.cutting import restart_offsets
from jellyframe.stream.reader import open_reader
from jellyframe.stream.splits import Piece, frames_before

OnError: TypeAlias = Callable[[JellyError], object]
# A run of batches that were read in one go, and the part of the piece that they are of.
Part: TypeAlias = tuple[Piece, Iterator[Batch]]


def piece_batches(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Yield the wanted statements of a piece. Bad input is passed to `on_error`, which may raise it."""
    return (batch for _part, batches in piece_parts(piece, inputs, on_error) for batch in batches)


def piece_parts(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Part]:
    """Yield the wanted statements of a piece in parts: one, or more where reading goes on behind bad input.

    Each part has to be read to its end before the next one is asked for.
    """
    row_filter = RowFilter(inputs.options.filters)
    for part, batches in _parts(piece, inputs, on_error):
        if inputs.options.blank_nodes == PER_FILE:
            batches = _with_own_labels(batches, part)
        yield part, map(row_filter.apply, batches) if row_filter else batches


def _parts(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Part]:
    found = inputs.formats[piece.file]
    if found == formats.JELLY:
        yield from _jelly_parts(piece, inputs, on_error)
    elif found == formats.PARQUET:
        yield piece, _present(_read_parquet, piece, inputs, on_error)
    elif found in LINE_FORMATS:
        yield piece, _present(_read_lines, piece, inputs, on_error)
    else:
        yield piece, _present(_read_document, piece, inputs, on_error)


def _present(
    read: Callable[[Piece, Inputs, OnError], Iterator[Batch]], piece: Piece, inputs: Inputs, on_error: OnError
) -> Iterator[Batch]:
    try:
        yield from read(piece, inputs, on_error)
    except MissingFileError as error:
        on_error(error)


@contextmanager
def _opened(piece: Piece) -> Iterator[Any]:
    """Open the file of a piece. That it is gone is an error that says what may have happened."""
    try:
        source = piece.file.open()
    except OSError as error:
        if piece.file.storage.exists(piece.file.path):
            raise
        raise MissingFileError.of(piece.file) from error
    with source:
        yield source


def _jelly_parts(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Part]:
    """Read a piece of a Jelly file. A bad frame costs what is up to the next restart point."""
    rest: Piece | None = piece
    while rest is not None:
        failures: list[JellyError] = []
        yield rest, _read_jelly(rest, inputs.options, failures)
        if not failures:
            return
        (error,) = failures
        error.source = piece.file.name
        if error.frame is not None:
            # Counted from where reading began, it means nothing unless the number of that frame is known.
            error.frame = error.frame + rest.first_frame if rest.first_frame or not rest.start else None
        on_error(error)
        rest = _after(rest, error)


def _read_jelly(piece: Piece, options: InputOptions, failures: list[JellyError]) -> Iterator[Batch]:
    """Read a piece up to its end or to an error, which is added to `failures`."""
    try:
        with (
            _opened(piece) as source,
            open_reader(
                source,
                limits=options.limits,
                concatenated=options.concatenated,
                batch_rows=options.batch_rows,
                byte_range=piece.byte_range,
            ) as reader,
        ):
            yield from reader.batches()
    except (*BAD_INPUT, MissingFileError) as error:
        failures.append(error)


def _after(piece: Piece, error: JellyError) -> Piece | None:
    """Return what is left of a piece behind the place of an error, if it has a restart point there."""
    if error.offset is None:
        return None
    with piece.file.open() as source:
        points = [point for point in restart_offsets(source, piece.file.size) if error.offset < point < piece.end]
        if not points:
            return None
        frame = frames_before(source, points[:1])[0]
    return replace(piece, start=points[0], stop=piece.end, first_frame=frame)


def _read_lines(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    with _opened(piece) as source:
        lines: Any = source if piece.stop is None else LineRange(source, piece)
        place = LinePlace(piece, 0 if piece.stop is None else lines.start)

        def bad_line(error: TextError) -> None:
            place.complete(error)
            on_error(error)

        try:
            yield from ntriples.read(
                lines,
                quads=inputs.formats[piece.file].has_graphs,
                generalized=True,
                batch_rows=inputs.options.batch_rows,
                limits=inputs.options.limits,
                on_error=bad_line,
            )
        except JellyError as error:
            # Not the fault of a line: damaged compression, most likely.
            _report(error, piece, on_error)


def _read_document(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Read a document with pyoxigraph: what is behind its first error is lost."""
    from jellyframe.formats.oxigraph import OxigraphInput

    storage = piece.file.storage
    base = Path(piece.file.path).as_uri() if storage.is_local else storage.display(piece.file.path)
    with _opened(piece) as source:
        try:
            document = OxigraphInput(source, inputs.formats[piece.file], base_iri=base, strict=False)
            yield from document.batches()
        except JellyError as error:
            _report(error, piece, on_error)


def _read_parquet(piece: Piece, inputs: Inputs, on_error: OnError) -> Iterator[Batch]:
    """Read the row groups that begin in a piece."""
    import pyarrow.parquet

    from jellyframe.arrow.terms import BatchMaker

    maker: BatchMaker | None = None
    try:
        file = pyarrow.parquet.ParquetFile(piece.file.path, filesystem=piece.file.storage.fs)
        metadata = file.metadata
        begins = [metadata.row_group(group).column(0).data_page_offset for group in range(metadata.num_row_groups)]
        groups = [group for group, begin in enumerate(begins) if piece.start <= begin < piece.end]
        for record_batch in file.iter_batches(inputs.options.batch_rows, groups):
            maker = maker or BatchMaker(record_batch.schema)
            yield maker.make(record_batch)
    except FileNotFoundError:
        raise MissingFileError.of(piece.file) from None
    except pa.ArrowException as error:
        on_error(ParseError(f"the Parquet file is damaged: {error}", source=piece.file.name))
    except JellyError as error:
        _report(error, piece, on_error)


def _report(error: JellyError, piece: Piece, on_error: OnError) -> None:
    """Pass an error about the content of a file on; one of its storage may pass, and is no bad input."""
    if isinstance(error, StorageError):
        raise error
    error.source = piece.file.name
    on_error(error)


def _with_own_labels(batches: Iterator[Batch], piece: Piece) -> Iterator[Batch]:
    """Give blank nodes labels that no other file has: a prefix is made of the file's name."""
    from jellyframe.kernel.columns_cy import prefix_labels

    digest = hashlib.blake2b(piece.file.name.encode(), digest_size=5).hexdigest()
    for batch in batches:
        prefix_labels(batch.terms, f"f{digest}-".encode())
        yield batch
