"""The input files of an operation: of any known format, found by paths and patterns, cut into pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from os import PathLike, fspath
from typing import Literal, TypeAlias

from jellyframe import formats
from jellyframe.defaults import DEFAULT_BATCH_ROWS
from jellyframe.dialects import dialect_named
from jellyframe.errors import JellyError, StorageError
from jellyframe.formats import Format
from jellyframe.formats.patches import open_patch_input
from jellyframe.formats.settings import ReadSettings
from jellyframe.ops.bad_input import FAILFAST, MODES, Mode
from jellyframe.ops.filters import TermOrText
from jellyframe.ops.progress import FileMeter, ProgressCallback
from jellyframe.options import DialectName, Limits, check_batch_rows, check_word
from jellyframe.patch.options import PatchOptions, PatchStreamType
from jellyframe.patch.recovery import patch_streams
from jellyframe.storage.finding import find_files
from jellyframe.storage.stores import DataFile, web_file
from jellyframe.storage.types import FileSystem
from jellyframe.storage.uris import is_http_uri
from jellyframe.stream.kinds import statement_streams
from jellyframe.stream.splits import (
    OPEN_COST_BYTES,
    PLANNING_THREADS,
    Piece,
    cut_files,
    default_target,
    pack,
    plan_pieces,
)

Paths: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
BlankNodes = Literal["keep", "per-file"]

# The size of text as a multiple of the size as Jelly, approximately.
TEXT_FACTOR = 4
KEEP: BlankNodes = "keep"
PER_FILE: BlankNodes = "per-file"


@dataclass(frozen=True)
class InputOptions:
    """Options for reading files. `filters` has the wanted terms of each position (s, p, o, g) that is filtered.

    `blank_nodes` decides whether labels are kept, or get a prefix that is different for each file. `lenient` accepts
    text that the specification of its format forbids, such as IRIs that are not absolute. `dialect` is that of Jelly.
    With `labels_by_place`, blank nodes without a label get one by the number of the file and their position in it, the
    same for data sets that have them at the same positions; otherwise labels that no other file has.

    The others are for patches: `strict` is that of `open_patch_reader`, `committed` leaves out transactions that are
    not committed, and the rows that start and end the others, and `operations` are the wanted operations.
    """

    filters: Mapping[str, Sequence[TermOrText]] = field(default_factory=dict)
    mode: Mode = FAILFAST
    blank_nodes: BlankNodes = KEEP
    batch_rows: int = DEFAULT_BATCH_ROWS
    concatenated: bool = False
    lenient: bool = False
    limits: Limits = field(default_factory=Limits)
    dialect: DialectName = "released"
    labels_by_place: bool = False
    strict: bool = True
    committed: bool = False
    operations: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        dialect_named(self.dialect)
        check_batch_rows(self.batch_rows)
        check_word("mode", self.mode, MODES)
        check_word("blank_nodes", self.blank_nodes, (KEEP, PER_FILE))


@dataclass(frozen=True)
class Inputs:
    """Files, each with its format, and the options for reading. Without a meter it can be sent to other processes."""

    files: tuple[DataFile, ...]
    formats: dict[DataFile, Format]
    options: InputOptions = field(default_factory=InputOptions)
    # Counts the bytes that this process reads.
    meter: FileMeter | None = None

    @classmethod
    def find(
        cls,
        paths: Paths,
        *,
        in_format: str | None = None,
        options: InputOptions | None = None,
        filesystem: FileSystem | None = None,
        known: tuple[Format, ...] | None = None,
        may_be_empty: bool = False,
    ) -> Inputs:
        """Return the files of paths: files, folders and patterns, local or in an object store.

        The format is `in_format`, or follows from the name of each file, and is one of those that are `known`: by
        default those of RDF data. In folders, files of other formats are skipped. `filesystem` is the
        `pyarrow.fs.FileSystem` of the paths; by default they are local paths or URIs. Folders without any data are an
        error, unless they `may_be_empty`.
        """
        known = known or formats.FOLDER_FORMATS
        names = path_names(paths)
        said = None if in_format is None else formats.format_by_name(in_format, known)

        def is_data(name: str) -> bool:
            return said is not None or formats.format_by_path(name, known) is not None

        found: dict[DataFile, Format] = {}
        for name in names:
            if filesystem is None and is_http_uri(name):
                told = formats.input_format(in_format, name, known)
                found[web_file(name, formats.accept_header((told,)))] = told
                continue
            for file in find_files((name,), is_data, filesystem=filesystem):
                found[file] = said or formats.input_format(None, file.name, known)
        if not found and not may_be_empty:
            raise StorageError(f"{', '.join(names)}: there is no file of a format that we know")
        return cls(tuple(found), found, options or InputOptions())

    def among(self, files: Sequence[DataFile]) -> Inputs:
        """Return the same inputs with only some of the files."""
        return replace(self, files=tuple(files))

    def with_mode(self, mode: Mode) -> Inputs:
        """Return the same inputs read in another mode."""
        return replace(self, options=replace(self.options, mode=mode))

    @property
    def are_patches(self) -> bool:
        """Whether the files hold changes, whose order matters."""
        return any(known.is_patch for known in self.formats.values())

    def metered(self, progress: ProgressCallback | None) -> Inputs:
        """Return these inputs with a meter that reports to a callback, if there is one."""
        return self if progress is None else replace(self, meter=FileMeter(progress, self.total_bytes or None))

    @property
    def total_bytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def bytes_as_jelly(self) -> int:
        """The approximate size of the inputs as Jelly, in bytes."""
        text = sum(file.size for file in self.files if not self.formats[file].is_binary)
        return self.total_bytes - text + text // TEXT_FACTOR

    def pieces(
        self, target_bytes: int | None = None, *, number_frames: bool = False, whole_patches: bool = False
    ) -> list[tuple[Piece, ...]]:
        """Return the pieces that tasks read: pieces of about `target_bytes`; by default those of text are larger.

        With `number_frames`, pieces of Jelly files know the number of their first frame. Those of patches are in the
        order of the files, and are cut only if reading is strict and stops at errors, so that a cut inside a
        transaction is an error; with `whole_patches`, files that are one patch are not cut.
        """
        target = target_bytes or default_target(self.files)
        if self.are_patches:
            can_cut = self.options.strict and self.options.mode == FAILFAST
            whole = {file for file in self.files if not can_cut or self.formats[file].cut is None}
            if whole_patches:
                large = [file for file in self.files if file.size > target and file not in whole]
                whole.update(file for file in large if self._is_one_patch(file))
            kind = patch_streams(strict=self.options.strict)
            pieces = cut_files(self.files, target, kind=kind, number_frames=number_frames, whole=whole)
            return pack(pieces, target)
        partitions: list[tuple[Piece, ...]] = []
        for known in formats.FOLDER_FORMATS:
            files = [file for file in self.files if self.formats[file] == known]
            is_jelly = known.cut == "restart points"
            size = target if is_jelly or target_bytes else target * TEXT_FACTOR
            if is_jelly:
                partitions += plan_pieces(
                    files, size, kind=statement_streams(self.options.dialect), number_frames=number_frames
                )
            elif known.cut is not None:
                partitions += pack([piece for file in files for piece in _cut_anywhere(file, size)], size)
            else:
                partitions += pack([Piece(file) for file in files], size)
        return partitions

    def pieces_for(self, count: int) -> list[tuple[Piece, ...]]:
        """Return the pieces of at most `count` tasks: about the same amount each, in the order of the files."""
        target = -(-self.total_bytes // count) or 1
        return _regroup([piece for partition in self.pieces(target) for piece in partition], count)

    def has_graphs(self) -> bool:
        """Return whether statements may be in named graphs, according to formats and headers."""
        peeked = {file for file in self.files if self.formats[file].has_header}
        if any(self.formats[file].has_graphs for file in self.files if file not in peeked):
            return True
        with ThreadPoolExecutor(PLANNING_THREADS) as pool:
            return any(pool.map(self._has_graph, peeked))

    def _has_graph(self, file: DataFile) -> bool:
        settings = ReadSettings(limits=self.options.limits, dialect=self.options.dialect)
        found = self.formats[file]
        if found.is_patch:
            options = self._patch_options(file)
            return options is None or options.has_graph
        try:
            with file.open() as source, formats.open_input(source, found, settings) as opened:
                return opened.has_graph is not False
        except JellyError:
            # The task that reads the file reports the error.
            return True

    def _is_one_patch(self, file: DataFile) -> bool:
        options = self._patch_options(file)
        return options is None or options.stream_type is PatchStreamType.FLAT

    def _patch_options(self, file: DataFile) -> PatchOptions | None:
        """Return the options of a file of patches; None if it cannot be read, which the task that reads it reports."""
        try:
            with (
                file.open() as source,
                open_patch_input(source, self.formats[file], limits=self.options.limits) as reader,
            ):
                return reader.options
        except JellyError:
            return None


def path_names(paths: Paths) -> list[str]:
    """Return one path or several as a list of strings."""
    return [fspath(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]


def _cut_anywhere(file: DataFile, target: int) -> list[Piece]:
    if file.looks_compressed or file.size <= target:
        return [Piece(file)]
    count = -(-file.size // target)
    cuts = [file.size * i // count for i in range(count + 1)]
    return [Piece(file, start, stop) for start, stop in pairwise(cuts)]


def _regroup(pieces: Sequence[Piece], count: int) -> list[tuple[Piece, ...]]:
    """Return pieces in at most `count` groups of about the same size."""
    total = sum(piece.size + OPEN_COST_BYTES for piece in pieces)
    groups: list[list[Piece]] = [[] for _ in range(count)]
    before = 0
    for piece in pieces:
        cost = piece.size + OPEN_COST_BYTES
        groups[min(count - 1, (before + cost // 2) * count // max(total, 1))].append(piece)
        before += cost
    return [tuple(group) for group in groups if group]
