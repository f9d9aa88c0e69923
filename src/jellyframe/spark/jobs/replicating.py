"""The job `replicate`: snapshots of a data set that follow a growing set of patches, each applied exactly once."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Unpack

from jellyframe import formats
from jellyframe.defaults import SNAPSHOTS_KEPT
from jellyframe.errors import OptionsError, StorageError
from jellyframe.ops.bad_input import FAILFAST, Mode
from jellyframe.ops.inputs import Inputs, Paths, path_names
from jellyframe.ops.patches.buckets import apply_bucket
from jellyframe.ops.summary import Summary
from jellyframe.spark.jobs.bucketing import write_by_bucket
from jellyframe.spark.jobs.inputs import JobInputs
from jellyframe.spark.jobs.outputs import job_output
from jellyframe.spark.jobs.patching import find_changes, find_data, for_patches, reading
from jellyframe.spark.options import ReadOptions
from jellyframe.storage.finding import find_files
from jellyframe.storage.snapshots import Snapshots, snapshot_data
from jellyframe.storage.stores import DataFile, locate

if TYPE_CHECKING:
    from jellyframe.options import DialectName
    from jellyframe.spark.types import FileOptions, Session, SourceOptions

_NOTHING = JobInputs(Inputs((), {}), ReadOptions(()))


@dataclass(frozen=True)
class Replication(Summary):
    """The result of a run of `replicate`. If there was no new patch, the run read and wrote nothing.

    Attributes:
        job: `replicate`
        output: the folder with the data of the newest snapshot
        statements: the number of statements written
        files: the number of files written
        bytes: the size of those files
        seconds: the duration of the run
        input_files: the number of files read
        input_bytes: the size of those files
        bad_records: the number of bad records that were left out
        problems: messages about the first of them
        snapshot: the number of the newest snapshot; 0 if there is none
        patches: the number of patches applied
    """

    snapshot: int = 0
    patches: int = 0

    def as_text(self) -> str:
        """Return the summary as a line of text."""
        if self.files == 0 and self.patches == 0 and self.statements == 0:
            return f"{self.job}: no new patches; snapshot {self.snapshot} in {self.output} is up to date"
        return f"{super().as_text()}; {self.patches:,} patches, snapshot {self.snapshot}"


def replicate(
    spark: Session,
    snapshot: Paths,
    patches: Paths,
    *,
    to: str | PathLike[str] | None = None,
    keep: int = SNAPSHOTS_KEPT,
    allow_late: bool = False,
    out_format: str = "jelly",
    in_format: str | None = None,
    patch_format: str | None = None,
    strict: bool = True,
    mode: Mode = FAILFAST,
    files: int | None = None,
    partition_bytes: int | None = None,
    read_options: SourceOptions | None = None,
    **options: Unpack[FileOptions],
) -> Replication:
    """Apply new patches to the newest snapshot of a data set, and write the result as the next snapshot.

    Snapshots are kept in a folder, each with a manifest that lists the patches applied so far. Each patch is applied
    exactly once, however often the job is run or killed: a snapshot exists only when its manifest is written. On local
    file systems, the link `current` in the folder points to the newest snapshot; `output` of the result is its path.
    Without new patches the job does nothing.

    Patches are applied in the order of their paths, within folders in the order of the file names. A new patch that
    sorts before an applied one is an error, and so is an applied patch that has changed.

    Args:
        spark: the session
        snapshot: a folder of snapshots, which is created if it does not exist; with `to`, files, folders and patterns
            of the initial data
        patches: files, folders and patterns of Jelly-Patch and RDF Patch
        to: the folder of snapshots, if `snapshot` is initial data
        keep: how many snapshots to keep, including the new one
        allow_late: whether to apply new patches that sort before applied ones
        out_format: `jelly`, `nq`, `nt` or `parquet`
        in_format: the format of the data; by default it is recognised by the file names
        patch_format: the format of the patches; by default it is recognised by the file names
        strict: whether transactions that start or end out of turn, or are open at the end of a file, are errors
        mode: what to do about bad input: `FAILFAST`, `PERMISSIVE` or `DROPMALFORMED`
        files: how many files to write; by default it depends on their size
        partition_bytes: how many bytes of input each task reads
        read_options: reading options of the data source, by name
        options: writing options of the data source, by name, and the `layout` of Parquet files
    """
    if keep < 1:
        raise OptionsError(f"keep is {keep}, and must be at least 1: the newest snapshot is always kept")
    start = time.monotonic()
    snapshots = Snapshots(_folder(snapshot, to))
    origin = [] if to is None else _names(snapshot)
    _require_same_origin(snapshots, origin)
    new = snapshots.new_patches(_find_patches(patches, patch_format), allow_late=allow_late)
    read = reading(mode, partition_bytes, read_options)
    # Snapshots are in the dialect in which this job writes, whatever that of the initial data is.
    data = _data(snapshots, None if to is None else snapshot, in_format, read, options.get("dialect"))
    # Finish what a killed run left undone.
    snapshots.tidy(keep)
    if not new and (snapshots.latest is not None or not data.files.files):
        return Replication(
            "replicate", snapshots.current or snapshots.name, 0, 0, 0, 0.0, 0, 0, snapshot=snapshots.number
        )
    changes = (
        find_changes([file.address for file in new], patch_format=patch_format, strict=strict, **for_patches(read))
        if new
        else _NOTHING
    )
    has_graph = data.files.has_graphs() or changes.files.has_graphs()
    folder = snapshots.next_folder()
    output = job_output(folder, has_graph=has_graph, out_format=out_format, **options)
    summary = write_by_bucket("replicate", spark, [data, changes], output, apply_bucket, files, namespaces=True)
    snapshots.commit(folder, new, origin=origin, statements=summary.statements, files=summary.files, size=summary.bytes)
    snapshots.tidy(keep)
    done: dict[str, Any] = {**asdict(summary), "seconds": round(time.monotonic() - start, 3)}
    return Replication(**done, snapshot=snapshots.number, patches=len(new))


def _folder(snapshot: Paths, to: str | PathLike[str] | None) -> str:
    if to is not None:
        return fspath(to)
    names = path_names(snapshot)
    if len(names) != 1:
        raise OptionsError(f"{len(names)} paths of initial data are given; name the folder of snapshots with to")
    return names[0]


def _names(paths: Paths) -> list[str]:
    """Return paths as they are written in manifests."""
    places = [locate(path) for path in path_names(paths)]
    return [storage.display(path) for storage, path in places]


def _require_same_origin(snapshots: Snapshots, origin: list[str]) -> None:
    if snapshots.latest is not None and origin and list(snapshots.latest.origin) != origin:
        initial = ", ".join(snapshots.latest.origin) or "no data"
        raise StorageError(
            f"{snapshots.name}: the initial data of the snapshots was {initial}, not {', '.join(origin)}; "
            "use another folder for snapshots of other data"
        )


def _find_patches(patches: Paths, patch_format: str | None) -> list[DataFile]:
    """Return the files of patches. An empty folder is not an error: patches may arrive later."""

    def is_patch(name: str) -> bool:
        return patch_format is not None or formats.format_by_path(name, formats.PATCH_FORMATS) is not None

    return find_files(path_names(patches), is_patch, may_be_empty=True)


def _data(
    snapshots: Snapshots, base: Paths | None, in_format: str | None, read: dict[str, Any], dialect: DialectName | None
) -> JobInputs:
    """Return the data to apply patches to: the newest snapshot, or else the initial data."""
    if snapshots.latest is None:
        if base is not None:
            return find_data([snapshot_data(path) for path in path_names(base)], in_format=in_format, **read)
    elif snapshots.latest.files:
        assert snapshots.current is not None
        return JobInputs.find(snapshots.current, **{**read, "dialect": dialect})
    return _NOTHING
