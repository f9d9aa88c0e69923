"""Part files: removed after every failure, locked while they are written, and removed when their writer is dead."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from jellyframe.storage import atomic
from jellyframe.storage.atomic import OTHER_HOST_STALE_SECONDS, AtomicFile
from jellyframe.storage.sinks import ByteSink


def parts(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".part"))


def killed_writer(path: Path) -> None:
    """Have a process begin a file, and kill it."""
    code = (
        "import sys\n"
        "from jellyframe.storage.sinks import ByteSink\n"
        "sink = ByteSink(sys.argv[1])\n"
        "sink.write(b'half')\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)


def test_the_next_writer_removes_the_part_of_a_killed_one(tmp_path: Path) -> None:
    killed_writer(tmp_path / "out")
    killed_writer(tmp_path / "other")
    assert len(parts(tmp_path)) == 2
    with ByteSink(tmp_path / "out") as sink:
        sink.write(b"whole")
    assert [name.split(".")[1] for name in parts(tmp_path)] == ["other"]
    assert (tmp_path / "out").read_bytes() == b"whole"


def test_the_part_of_a_live_writer_is_kept(tmp_path: Path) -> None:
    first = ByteSink(tmp_path / "out")
    first.write(b"first")
    with ByteSink(tmp_path / "out") as second:
        second.write(b"second")
        assert len(parts(tmp_path)) == 2
    assert (tmp_path / "out").read_bytes() == b"second"
    first.close()
    assert (tmp_path / "out").read_bytes() == b"first"
    assert parts(tmp_path) == []


def test_many_writers_of_one_file_at_once(tmp_path: Path) -> None:
    def write(number: int) -> None:
        for _ in range(20):
            with ByteSink(tmp_path / "out") as sink:
                sink.write(b"%d" % number * 1000)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set((tmp_path / "out").read_bytes())) == 1
    assert os.listdir(tmp_path) == ["out"]


def test_parts_of_other_hosts_are_removed_only_when_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(atomic, "_host", lambda: "0" * 8)
        killed = AtomicFile(str(tmp_path / "out"))
    part = tmp_path / parts(tmp_path)[0]
    copy = part.read_bytes()
    killed.discard()
    part.write_bytes(copy)
    AtomicFile(str(tmp_path / "out")).discard()
    assert part.exists()
    long_ago = time.time() - OTHER_HOST_STALE_SECONDS - 60
    os.utime(part, (long_ago, long_ago))
    AtomicFile(str(tmp_path / "out")).discard()
    assert not part.exists()


def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_writer(tmp_path / "out")
    monkeypatch.setattr(atomic, "_lock", lambda _descriptor: None)
    with ByteSink(tmp_path / "out") as sink:
        sink.write(b"whole")
    assert len(parts(tmp_path)) == 1
    assert (tmp_path / "out").read_bytes() == b"whole"


def test_a_forgotten_writer_is_discarded_with_a_warning(tmp_path: Path) -> None:
    sink = ByteSink(tmp_path / "out")
    sink.write(b"half")
    held = [sink]
    del sink
    with pytest.warns(ResourceWarning, match="out was not closed, so it was not written"):
        held.clear()
    assert os.listdir(tmp_path) == []


def test_a_writer_that_is_open_at_exit_is_discarded(tmp_path: Path) -> None:
    code = (
        "import sys, jellyframe\n"
        "from jellyframe import IRI, Triple\n"
        "writer = jellyframe.open_writer(sys.argv[1])\n"
        "writer.write([Triple(IRI('a:s'), IRI('a:p'), IRI('a:o'))])\n"
        "keep = [writer]\n"
        "keep.append(keep)\n"
    )
    command = [sys.executable, "-W", "always", "-c", code, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, check=True)
    assert os.listdir(tmp_path) == []
    assert b"ResourceWarning" in done.stderr


def test_a_forked_process_does_not_remove_the_file(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from jellyframe.storage.sinks import ByteSink\n"
        "sink = ByteSink(sys.argv[1])\n"
        "sink.write(b'whole')\n"
        "sink.flush()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    sys.exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "sink.close()\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=True)
    assert (tmp_path / "out").read_bytes() == b"whole"


def test_a_close_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").write_bytes(b"old")
    for failing in ("fsync", "replace"):

        def fail(*_arguments: object) -> None:
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            sink = ByteSink(tmp_path / "old")
            sink.write(b"new")
            patch.setattr(os, failing, fail)
            with pytest.raises(OSError, match="Input/output error") as caught:
                sink.close()
            assert caught.value.filename == str(tmp_path / "old")
        assert os.listdir(tmp_path) == ["old"]
        assert (tmp_path / "old").read_bytes() == b"old"


def test_errors_name_the_file_and_not_the_part(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        ByteSink(tmp_path / "nowhere" / "out")
    assert caught.value.filename == str(tmp_path / "nowhere" / "out")


def test_the_umask_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _mask: pytest.fail("the umask of the process was changed"))
        with ByteSink(tmp_path / "out") as sink:
            sink.write(b"x")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "a" * 220])
def test_the_longest_names_can_be_written(name: str, tmp_path: Path) -> None:
    with ByteSink(tmp_path / name) as sink:
        sink.write(b"x")
    assert os.listdir(tmp_path) == [name]
