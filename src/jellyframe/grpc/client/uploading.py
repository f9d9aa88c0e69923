"""Publish files of any format: a set of files, or files as they appear in a folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jellyframe import formats
from jellyframe.batch import Batch
from jellyframe.batch.frames import Frame
from jellyframe.defaults import DEFAULT_FRAME_ROWS
from jellyframe.errors import StorageError, advising, display_name
from jellyframe.formats.settings import ReadSettings
from jellyframe.grpc.client.blocking import Client
from jellyframe.grpc.client.publishing import PublisherSettings, options_for
from jellyframe.ops.converting import input_paths
from jellyframe.ops.progress import ProgressCallback, ProgressMeter
from jellyframe.options import LogicalType, OptionChanges, StreamOptions
from jellyframe.storage.atomic import AtomicFile
from jellyframe.storage.finding import find_files
from jellyframe.storage.sources import InputFile, total_size
from jellyframe.stream.reader import open_reader

# With a rate, a frame has at most the statements of this time.
_RATE_SECONDS = 0.1


class Uploaded(NamedTuple):
    """The numbers of files, frames and statements that were published and acknowledged."""

    files: int
    frames: int
    statements: int


@dataclass(frozen=True)
class Upload:
    """Settings for publishing files. `rate` is in statements per second; `changes` override stream options."""

    in_format: str | None = None
    read: ReadSettings = field(default_factory=ReadSettings)
    options: StreamOptions | None = None
    changes: OptionChanges = field(default_factory=OptionChanges)
    publisher: PublisherSettings = field(default_factory=PublisherSettings)
    rate: float | None = None
    progress: ProgressCallback | None = None


class Uploader:
    """Publishes files to a topic, each as a separate publication, which is acknowledged before the next begins."""

    def __init__(self, client: Client, topic: str, upload: Upload | None = None) -> None:
        self._client = client
        self._topic = topic
        self._upload = upload or Upload()
        self._pace = None if self._upload.rate is None else Pace(self._upload.rate)
        self._meter = ProgressMeter(self._upload.progress, None)
        self.uploaded = Uploaded(0, 0, 0)

    def publish(self, inputs: Sequence[str | None]) -> Uploaded:
        """Publish files, folders and patterns, None for standard input, and return how much was published."""
        paths = input_paths(inputs, self._upload.in_format)
        self._meter = ProgressMeter(self._upload.progress, total_size(paths))
        for path in paths:
            self.publish_file(path)
        return self.uploaded

    def publish_file(self, path: str | None) -> None:
        """Publish one file."""
        found = formats.input_format(self._upload.in_format, path)
        with InputFile(path) as file, advising("in_dialect", in_place_of="dialect"):
            if found == formats.JELLY:
                with open_reader(file, limits=self._upload.read.limits, dialect=self._upload.read.dialect) as reader:
                    self._publish(
                        self._paced_frames(reader.frames(), file, grouped=reader.options.logical_type.is_grouped),
                        options_for(reader, self._upload.options, self._upload.publisher),
                    )
            else:
                with formats.open_input(file, found, self._upload.read) as opened:
                    batches = self._meter.over(opened.batches(), file)
                    self._publish(self._paced_batches(batches), self._upload.options)

    def _publish(self, data: Iterable[Batch] | Iterable[Frame], options: StreamOptions | None) -> None:
        settings = self._upload.publisher.copy()
        if self._pace is not None:
            rows = settings.get("frame_rows", DEFAULT_FRAME_ROWS)
            most = rows if isinstance(rows, int) else DEFAULT_FRAME_ROWS
            settings["frame_rows"] = max(1, min(most, self._pace.statements_in(_RATE_SECONDS)))
        options = self._changed(options or StreamOptions())
        with self._client.publisher(self._topic, options, **settings) as publisher:
            publisher.write(data)
        files, frames, statements = self.uploaded
        self.uploaded = Uploaded(
            files + 1, frames + publisher.acknowledged_frames, statements + publisher.statements_written
        )

    def _changed(self, options: StreamOptions) -> StreamOptions:
        changes = self._upload.changes
        if "physical_type" in changes and "logical_type" not in changes:
            # The logical type of the options may not match the new physical type.
            options = options.replace(logical_type=LogicalType.UNSPECIFIED)
        return options.replace(**changes)

    def _paced_frames(self, frames: Iterable[Frame], file: InputFile, *, grouped: bool) -> Iterator[Frame]:
        statements = self.uploaded.statements
        for frame in frames:
            if self._pace is not None:
                self._pace.wait(len(frame))
            if len(frame) or frame.namespaces or grouped:
                yield frame
            statements += len(frame)
            self._meter.report(file.bytes_read, statements)

    def _paced_batches(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            if self._pace is None:
                yield batch
                continue
            step = max(1, self._pace.statements_in(_RATE_SECONDS))
            for start in range(0, len(batch), step):
                stop = min(start + step, len(batch))
                self._pace.wait(stop - start)
                yield batch.slice(start, stop)


class Pace:
    """Limits the number of statements per second, on average since the start."""

    def __init__(
        self,
        rate: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._rate = rate
        self._clock = clock
        self._sleep = sleep
        self._due: float | None = None

    def statements_in(self, seconds: float) -> int:
        """Return how many statements may be sent in a number of seconds."""
        return int(self._rate * seconds)

    def wait(self, statements: int) -> None:
        """Wait until the given number of further statements may be sent."""
        now = self._clock()
        # Idle time is not made up for.
        self._due = now if self._due is None else max(self._due, now - 1.0)
        if self._due > now:
            self._sleep(self._due - now)
        self._due += statements / self._rate


class FollowedFolders:
    """Files of folders and patterns, each once, also over several runs if there is a resume file.

    Files have to appear complete, for instance by a rename; hidden files are skipped.
    """

    def __init__(self, paths: Sequence[str], in_format: str | None = None, memory: str | None = None) -> None:
        self._paths = tuple(paths)
        self._known = formats.FORMATS if in_format is None else (formats.format_by_name(in_format),)
        self._memory = memory
        self._done = set(_read_memory(memory)) if memory is not None else set()

    def new_files(self) -> list[str]:
        """Return the files that have not been marked as done, oldest first."""
        found = find_files(self._paths, self._is_data, may_be_empty=True)
        new = sorted((file.modified, file.address) for file in found if file.address not in self._done)
        return [address for _modified, address in new]

    def mark_done(self, path: str) -> None:
        """Store that a file has been published."""
        self._done.add(path)
        if self._memory is not None:
            file = AtomicFile(self._memory)
            file.file.write(json.dumps({"published": sorted(self._done)}, indent=1).encode())
            file.commit()

    def _is_data(self, name: str) -> bool:
        return formats.format_by_path(name, self._known) is not None


def _read_memory(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            published = json.loads(file.read())["published"]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"it does not list published files: {error}", source=display_name(path)) from None
    return [str(name) for name in published]
