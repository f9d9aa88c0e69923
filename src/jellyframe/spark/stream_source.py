"""The stream source: a growing folder of files, each of which is read exactly once.

An offset is a number of files in a log of arrivals, see `jellyframe.storage.arrivals`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from jellyframe.errors import OptionsError, StorageError
from jellyframe.ops.bad_input import DROPMALFORMED, PERMISSIVE
from jellyframe.ops.filters import RowFilter
from jellyframe.spark.options import ReadOptions
from jellyframe.spark.reading import plan_partitions, read_partition
from jellyframe.spark.schema import columns_of
from jellyframe.storage.arrivals import LOG_PREFIX, Arrival, ArrivalLog, remove_abandoned_logs
from jellyframe.storage.finding import find_files, fixed_folder
from jellyframe.storage.stores import DataFile, Storage, locate

try:
    from pyspark.sql.streaming import datasource as limits
except ImportError:  # Spark 4.0 and 4.1
    limits = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit

# Fields of an offset: the number of files read, and, unless the option stateLocation is given, the name of the log.
_FILES, _LOG = "files", "log"
_Offset = dict[str, Any]


class _StreamReader(DataSourceStreamReader):
    """The part that is the same for all versions of Spark."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self.options = options
        self.columns = columns_of(schema, options)
        RowFilter(options.filters)
        self._storages = list(dict.fromkeys(locate(path)[0] for path in options.paths))
        self._log: ArrivalLog | None = None
        self._log_name = uuid4().hex
        self._listing: list[tuple[int, DataFile]] | None = None

    # ---- called by Spark ----

    def initialOffset(self) -> _Offset:  # noqa: N802
        return self._offset(0)

    def partitions(self, start: _Offset, end: _Offset) -> Sequence[InputPartition]:
        arrivals = self._log_of(end).arrivals[start[_FILES] : end[_FILES]]
        return plan_partitions(self._files(arrivals), self.options, self.columns)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(partition, self.options, self.columns)

    # ---- the log ----

    def _offset(self, files: int) -> _Offset:
        offset: _Offset = {_FILES: files}
        if self.options.stream.state_location is None:
            offset[_LOG] = self._log_name
        return offset

    def _log_of(self, offset: _Offset) -> ArrivalLog:
        """Return the log that an offset refers to, so that a restarted query continues with its log."""
        self._log_name = offset.get(_LOG, self._log_name)
        if self._log is None:
            self._log = self._open_log()
        self._log.require(offset[_FILES])
        if self.options.stream.state_location is None:
            self._log.mark_in_use()
        return self._log

    def _open_log(self) -> ArrivalLog:
        """Open the log of the query, and remove logs that have not been used for long."""
        storage, folder = self._log_place()
        if self.options.stream.state_location is None:
            remove_abandoned_logs(storage, folder.rpartition("/")[0], folder)
        return ArrivalLog(storage, folder)

    def _log_place(self) -> tuple[Storage, str]:
        state_location = self.options.stream.state_location
        if state_location is not None:
            storage, folder = locate(state_location)
            return storage, folder.rstrip("/")
        storage, path = locate(self.options.paths[0])
        return storage, f"{fixed_folder(storage, path)}/{LOG_PREFIX}{self._log_name}"

    def _list_files(self) -> list[tuple[int, DataFile]]:
        found = find_files(self.options.paths, self.options.is_data, may_be_empty=True)
        return [(self._storages.index(file.storage), file) for file in found]

    def _files(self, arrivals: Sequence[Arrival]) -> list[DataFile]:
        """Return files of the log as they are now. The mode decides about files that no longer exist."""
        files: list[DataFile] = []
        for number, storage in enumerate(self._storages):
            here = [arrival for arrival in arrivals if arrival.storage == number]
            for arrival, info in zip(here, storage.fs.get_file_info([one.path for one in here]), strict=True):
                if info.type == pa.fs.FileType.File:
                    files.append(DataFile.of(storage, info))
                elif self.options.stream.ignore_missing_files or self.options.mode == DROPMALFORMED:
                    continue
                elif self.options.mode == PERMISSIVE:
                    # The task that reads it reports it as missing.
                    files.append(DataFile(storage, arrival.path, arrival.size))
                else:
                    raise StorageError(
                        f"{storage.display(info.path)} was found before, but no longer exists; to skip missing files, "
                        "set the option ignoreMissingFiles, or the mode DROPMALFORMED or PERMISSIVE"
                    )
        return files


if limits is not None:

    class JellyStreamReader(_StreamReader, limits.SupportsTriggerAvailableNow):
        """Reads files as they arrive, in batches whose size the user may limit."""

        def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
            stream = self.options.stream
            if stream.max_files is not None:
                return limits.ReadMaxFiles(stream.max_files)
            return limits.ReadAllAvailable() if stream.max_bytes is None else limits.ReadMaxBytes(stream.max_bytes)

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
            self._listing = self._list_files()

        def latestOffset(self, start: _Offset, limit: ReadLimit) -> _Offset:  # noqa: N802
            log = self._log_of(start)
            taken = _within(limit, log, start[_FILES])
            if taken == len(log):
                # The log is used up within the limit, so look for new files. `availableNow` has fixed the listing.
                log.add(self._list_files() if self._listing is None else self._listing)
                taken = _within(limit, log, start[_FILES])
            return self._offset(taken)

    def _within(limit: ReadLimit, log: ArrivalLog, start: int) -> int:
        """Return the end of the next batch within a limit. The batch has at least one file, if there are any."""
        if isinstance(limit, limits.ReadMaxFiles):
            return min(len(log), start + max(1, limit.max_files))
        if isinstance(limit, limits.ReadMaxBytes):
            size = 0
            for number, arrival in enumerate(log.arrivals[start:], start):
                size += arrival.size
                if size > limit.max_bytes and number > start:
                    return number
        return len(log)

else:

    class JellyStreamReader(_StreamReader):  # type: ignore[no-redef]
        """Reads all files that have arrived. This Spark does not pass the last offset, so stateLocation is required."""

        def __init__(self, options: ReadOptions, schema: StructType) -> None:
            super().__init__(options, schema)
            stream = options.stream
            if stream.max_files is not None or stream.max_bytes is not None:
                raise OptionsError("maxFilesPerTrigger and maxBytesPerTrigger need Spark 4.2 or newer")
            if stream.state_location is None:
                raise OptionsError(
                    "Spark before 4.2 needs the option stateLocation: a folder, for this query only, "
                    "in which the source keeps the list of the files that it has found"
                )

        def latestOffset(self) -> _Offset:  # noqa: N802
            log = self._log_of(self.initialOffset())
            log.add(self._list_files())
            return self._offset(len(log))
