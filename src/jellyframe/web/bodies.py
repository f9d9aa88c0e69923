"""The bytes of responses: unchanged files, and files that are converted while they are sent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence

from jellyframe import formats
from jellyframe.errors import StorageError
from jellyframe.formats import Format
from jellyframe.ops.converting import Conversion, run_conversion
from jellyframe.ops.patches.converting import convert_patches
from jellyframe.ops.transcoding import transcode
from jellyframe.storage.compression import new_deflater
from jellyframe.storage.sources import ByteSource
from jellyframe.storage.types import Compression
from jellyframe.web.channels import Channel, work_in_thread
from jellyframe.web.folders import FileState, ServedFile, all_unchanged

READ_BYTES = 512 << 10


class ChangedError(StorageError):
    """A file that changed while it was sent, so that the bytes sent are not those of any version."""


async def file_body(file: ServedFile, start: int, stop: int) -> AsyncGenerator[bytes, None]:
    """Yield bytes of a file unchanged. The last piece is yielded only if the file has not changed meanwhile."""
    loop = asyncio.get_running_loop()
    with open(file.path, "rb", buffering=0) as opened:
        opened.seek(start)
        waiting = b""
        left = stop - start
        while left:
            piece = await loop.run_in_executor(None, opened.read, min(READ_BYTES, left))
            if not piece:
                break
            if waiting:
                yield waiting
            waiting = piece
            left -= len(piece)
        if left or FileState.of(os.fstat(opened.fileno())) != file.state:
            raise ChangedError("the file changed while it was sent")
        yield waiting


def converted_body(
    files: Sequence[ServedFile], target: Format, encoding: Compression | None
) -> AsyncGenerator[bytes, None]:
    """Yield files as one document of a format, converted and perhaps compressed while they are sent."""

    def work(channel: Channel) -> None:
        paths = [file.path for file in files]
        if len(files) == 1 and files[0].can_be_sent_as(target):
            _copy(paths[0], channel, encoding)
        elif target.is_patch:
            convert_patches(paths, channel, out_format=target.name, compression=encoding)
        elif target == formats.JELLY and _are_alike_jelly(files):
            transcode(paths, channel, compression=encoding, dialect=files[0].dialect)
        else:
            dialects = {file.path: file.dialect for file in files if file.dialect != "released"}
            plan = Conversion(out_format=target.name, compression=encoding or "none", dialects=dialects)
            run_conversion(paths, channel, plan)
        if not all_unchanged(files):
            raise ChangedError("a file changed while it was sent")

    return work_in_thread(work)


def _are_alike_jelly(files: Sequence[ServedFile]) -> bool:
    """Return whether all files are Jelly of one dialect, so that their frames can be kept."""
    return all(file.format == formats.JELLY and file.dialect == files[0].dialect for file in files)


def _copy(path: str, channel: Channel, encoding: Compression | None) -> None:
    """Copy the content of a file with another compression, or with none."""
    deflater = new_deflater(encoding)
    with ByteSource(path) as source:
        while data := source.read(READ_BYTES):
            if deflater is not None:
                data = deflater.compress(data)
            if data:
                channel.write(data)
    if deflater is not None:
        channel.write(deflater.flush())
