"""Inputs and outputs of commands: files, or the standard streams if none is named."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from jellyframe.cli.arguments import STANDARD_STREAM
from jellyframe.cli.console import Console, UsageError, standard_output
from jellyframe.storage.types import Sink
from jellyframe.storage.uris import is_uri

if TYPE_CHECKING:
    from jellyframe.ops.progress import Progress, ProgressCallback


def progress_callback(console: Console) -> ProgressCallback | None:
    """Return a callback that draws a progress bar, or None without a terminal."""
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


def named_inputs(names: list[str]) -> list[str | None]:
    """Return the inputs that were named, None for standard input, which is also what no name stands for."""
    if names.count(STANDARD_STREAM) > 1:
        raise UsageError("standard input can be read only once")
    return [None if name == STANDARD_STREAM else name for name in names or [STANDARD_STREAM]]


def output_sink(path: str | None, *, is_binary: bool, force: bool = False) -> Sink:
    """Return the sink for a writer: the path, or standard output unless binary data would go to a terminal."""
    if path is not None:
        if not is_uri(path) and not os.path.isdir(os.path.dirname(path) or "."):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return path
    if is_binary and not force and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("binary data would fill your terminal: name a file with --to, or use --force")
    return standard_output()


def write_second_output(text: str, path: str, what: str, console: Console) -> None:
    """Write text to the path of an option, `-` for standard output, and tell where it is."""
    from jellyframe.storage.sinks import ByteSink

    is_standard = path == STANDARD_STREAM
    with ByteSink(output_sink(None if is_standard else path, is_binary=False)) as sink:
        sink.write_text(text)
    if not is_standard:
        console.note(f"the {what} is in {path}")
