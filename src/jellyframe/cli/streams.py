"""Where the commands read from and write to: files, and the standard streams when none is named."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jellyframe.cli.arguments import STANDARD_STREAM
from jellyframe.cli.console import Console, UsageError, standard_output
from jellyframe.storage.sinks import descriptor_of
from jellyframe.storage.sources import InputFile
from jellyframe.storage.types import Sink
from jellyframe.storage.uris import is_uri

if TYPE_CHECKING:
    from jellyframe.batch import Batch
    from jellyframe.ops.progress import Progress, ProgressCallback


def progress_callback(console: Console) -> ProgressCallback | None:
    """Return a callback that draws a progress bar, or None where nobody would see it."""
    if not console.shows_progress:
        return None
    bar = None

    def show(progress: Progress) -> None:
        nonlocal bar
        if bar is None:
            bar = console.progress(progress.total_bytes)
        if bar is not None:
            bar.update(progress.bytes_read, progress.statements)

    return show


class ProgressOfInputs:
    """Shows how far a command has got with its inputs, which it reads one after the other."""

    def __init__(self, console: Console, total_bytes: int | None) -> None:
        self._progress = console.progress(total_bytes)
        self._console = console
        self._bytes_before = 0
        self._statements = 0

    def over(self, batches: Iterable[Batch], source: InputFile) -> Iterator[Batch]:
        """The same batches, counted as they pass."""
        if self._progress is None:
            yield from batches
            return
        for batch in batches:
            yield batch
            self._statements += len(batch)
            self._progress.update(self._bytes_before + source.bytes_read, self._statements)
        self._bytes_before += source.bytes_read

    @property
    def refresh_seconds(self) -> float | None:
        """How often `show` is of use; None where nobody sees it."""
        if self._progress is None:
            return None
        from jellyframe.cli.progress import REFRESH_SECONDS

        return REFRESH_SECONDS

    def show(self, bytes_read: int, statements: int) -> None:
        """Say how much of all inputs has been read, where others do the reading."""
        if self._progress is not None:
            self._progress.update(bytes_read, statements)


def expand_inputs(names: list[str]) -> list[str | None]:
    """Return the inputs that were named: patterns, folders and URIs resolved, None for standard input.

    No name at all stands for standard input.
    """
    from jellyframe.storage.resolving import resolve_names

    paths: list[str | None] = []
    for name in names or [STANDARD_STREAM]:
        if name == STANDARD_STREAM:
            if None in paths:
                raise UsageError("standard input can be read only once")
            paths.append(None)
        else:
            paths += resolve_names([name])
    return paths


def output_sink(path: str | None, *, is_binary: bool, force: bool = False) -> Sink:
    """Return what to give to a writer: the path, or standard output, which is no terminal if the data is binary."""
    if path is not None and not is_standard_output(path):
        if not is_uri(path) and not os.path.isdir(os.path.dirname(path) or "."):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return path
    if is_binary and not force and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("binary data would fill your terminal: name a file with --to, or use --force")
    return standard_output()


def is_standard_output(path: str) -> bool:
    """Return whether a path such as /dev/stdout is standard output."""
    return descriptor_of(path) == 1
