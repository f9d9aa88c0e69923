"""Behaviour of all commands: streams, terminals, exit codes, signals, atomic output."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jellyframe import open_reader
from support.command import COMMAND, command_at_work, environment, error_of, run, terminal

LINES = b"".join(b'<http://a/s%d> <http://a/p> "%d" .\n' % (i, i) for i in range(2000))


@pytest.fixture(scope="module")
def jelly() -> bytes:
    return run("rdf", "to-jelly", "--in-format=nt", data=LINES).out


def everything_from(ours: int, theirs: int) -> bytes:
    """Return the output on a terminal, when all processes that write to it have ended."""
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):
        while piece := os.read(ours, 65536):
            written += piece
    return written


def stderr_on_terminal(arguments: list[str], data: bytes, **variables: str) -> tuple[int, bytes]:
    with terminal() as (ours, theirs):
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=environment(**variables),
            check=False,
        )
        return done.returncode, everything_from(ours, theirs)


# ---- exit codes and messages ----


def test_help_shows_an_example_of_each_command() -> None:
    for command in (
        [],
        ["rdf"],
        ["rdf", "to-jelly"],
        ["rdf", "from-jelly"],
        ["rdf", "transcode"],
        ["version"],
        ["completion"],
    ):
        out = run(*command, "--help").out.decode()
        if command != ["rdf"]:
            assert "examples:\n  jellyframe" in out or "examples:\n  eval" in out


def test_version() -> None:
    from jellyframe import __version__

    out = run("version").out.decode()
    assert out.startswith(f"jellyframe {__version__} (")
    assert "pyarrow" in out
    assert run("--version").out.decode() == f"jellyframe {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["rdf"], ["nothing"], ["rdf", "nothing"], ["rdf", "to-jelly", "--nothing"]],
)
def test_usage_errors_exit_with_2(arguments: list[str]) -> None:
    assert "--help" in error_of(*arguments)


def test_an_unknown_option_leads_to_the_help_of_its_command() -> None:
    error = error_of("rdf", "inspect", "--no-such", "a.jelly")
    assert error == "jellyframe: error: unrecognized arguments: --no-such (see `jellyframe rdf inspect --help`)\n"


def test_missing_files_exit_with_2(tmp_path: Path) -> None:
    assert (
        error_of("rdf", "to-jelly", "none.nt", cwd=tmp_path)
        == "jellyframe: error: none.nt: No such file or directory\n"
    )
    (tmp_path / "a.nt").write_bytes(LINES)
    assert "none/b.jelly" in error_of("rdf", "to-jelly", "a.nt", "--to", "none/b.jelly", cwd=tmp_path)


def test_traceback_only_with_debug() -> None:
    assert "Traceback" not in error_of("rdf", "from-jelly", data=b"nonsense")
    assert "Traceback" in run("rdf", "from-jelly", "--debug", data=b"nonsense", code=2).err


def test_messages_contain_no_terminal_control_characters(tmp_path: Path) -> None:
    assert "\x1b" not in error_of("rdf", "to-jelly", "\x1b[2Jevil.nt", cwd=tmp_path)


# ---- standard streams and files ----


def test_standard_streams_by_default_and_by_name(jelly: bytes) -> None:
    assert run("rdf", "from-jelly", "-", "--to", "-", data=jelly) == (0, LINES, "")
    assert run("rdf", "from-jelly", data=jelly) == (0, LINES, "")


def test_output_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.jelly"
    path.write_bytes(b"old")
    error_of("rdf", "to-jelly", "--in-format=nt", "--to", path, data=LINES + b"oops\n")
    assert path.read_bytes() == b"old"
    run("rdf", "to-jelly", "--in-format=nt", "--to", path, data=LINES)
    with open_reader(path) as reader:
        assert len(list(reader.statements())) == 2000
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.jelly"]


def test_a_closed_pipe_ends_quietly() -> None:
    many = LINES * 40
    with subprocess.Popen(
        [*COMMAND, "rdf", "to-jelly", "--in-format=nt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdin is not None
        reader = subprocess.Popen(
            [*COMMAND, "rdf", "from-jelly"],
            stdin=first.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert first.stdout is not None
        first.stdout.close()
        with reader:
            assert reader.stdout is not None
            assert reader.stderr is not None
            first.stdin.write(many)
            first.stdin.close()
            assert reader.stdout.readline() == LINES[: LINES.index(b"\n") + 1]
            reader.stdout.close()
            assert reader.stderr.read() == b""
            assert reader.wait() == 141
        first.wait()


@pytest.mark.parametrize("to_file", [False, True])
def test_ctrl_c_ends_quietly(to_file: bool, tmp_path: Path) -> None:
    with terminal() as (ours, theirs):
        target: list[str | Path] = ["--to", tmp_path / "out.nq"] if to_file else []
        with command_at_work(ours, theirs, *target) as process:
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130
        rest = everything_from(ours, theirs)
    assert b"Traceback" not in rest
    assert b"error" not in rest
    assert list(tmp_path.iterdir()) == []


# ---- terminals ----


def test_no_binary_to_a_terminal_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.nt"
    path.write_bytes(LINES[: LINES.index(b"\n") + 1])
    for extra, code in (([], 2), (["--force"], 0)):
        with terminal() as (ours, theirs):
            done = subprocess.run(
                [*COMMAND, "rdf", "to-jelly", str(path), *extra], stdout=theirs, stderr=subprocess.PIPE, check=False
            )
            assert done.returncode == code
            assert (b"--force" in done.stderr) is (code == 2)
            assert bool(everything_from(ours, theirs)) is (code == 0)


def test_progress_on_a_terminal_only_and_not_when_quiet(jelly: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.jelly"
    path.write_bytes(jelly)
    code, shown = stderr_on_terminal(["rdf", "from-jelly", str(path)], b"")
    assert code == 0
    assert re.search(rb"\[#+ *\] +\d+ % .* of .*B, 2\.0 k statements, .*/s, \d:\d\d left", shown)
    assert shown.endswith(b"\r\x1b[K")
    assert stderr_on_terminal(["rdf", "from-jelly", "--quiet"], jelly) == (0, b"")
    assert run("rdf", "from-jelly", data=jelly).err == ""


def test_colour_unless_no_color() -> None:
    code, shown = stderr_on_terminal(["rdf", "from-jelly"], b"nonsense")
    assert code == 2
    assert b"\x1b[31merror\x1b[0m" in shown
    _code, shown = stderr_on_terminal(["rdf", "from-jelly"], b"nonsense", NO_COLOR="1")
    assert shown.startswith(b"jellyframe: error: ")
    assert b"\x1b[31m" not in shown


# ---- start ----


def test_help_imports_no_heavy_modules() -> None:
    """Start-up is fast because unused modules are not imported."""
    code = (
        "import sys\n"
        "from jellyframe.cli.main import main\n"
        "main(['--help'])\n"
        "heavy = {'pyarrow', 'pyoxigraph', 'google.protobuf', 'numpy', 'rdflib', 'dataclasses', 'jellyframe.kernel'}\n"
        "heavy |= {'hashlib', 'shutil', 'jellyframe.storage.sinks'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_a_command_imports_no_other_command() -> None:
    code = (
        "import sys\n"
        "from jellyframe.cli.main import main\n"
        "main(['rdf', 'inspect', '--help'])\n"
        "heavy = {'jellyframe.batch', 'jellyframe.kernel', 'jellyframe.cli.from_jelly', 'jellyframe.cli.view'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_large_patterns_are_compiled_when_they_are_first_used() -> None:
    """Those of IRIs and of labels take longer to compile than a small file takes to read."""
    code = (
        "import re, sys\n"
        "compiled, compile_pattern = [], re.compile\n"
        "re.compile = lambda pattern, flags=0: compiled.append(pattern) or compile_pattern(pattern, flags)\n"
        "import jellyframe.batch.validation, jellyframe.kernel.labels\n"
        "assert not [pattern for pattern in compiled if not pattern.isascii() or len(pattern) > 300], compiled\n"
        "assert jellyframe.batch.validation.why_bad_iri('http://a/\\u00e9') is None\n"
        "assert [pattern for pattern in compiled if len(pattern) > 300]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("columns", ["90", "120"])
def test_help_is_as_wide_as_the_environment_says(columns: str) -> None:
    command = [*COMMAND, "rdf", "transcode", "--help"]
    shown = subprocess.run(command, check=True, env=environment(COLUMNS=columns), capture_output=True, text=True).stdout
    explanations = [len(line) for line in shown.splitlines() if line.startswith(" " * 20)]
    assert int(columns) - 15 < max(explanations) <= int(columns) - 2


def _imported_by(*words: str, data: bytes | None = None) -> set[str]:
    """Return the modules that a process has imported after a command."""
    code = (
        "import sys\n"
        "from jellyframe.cli.main import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, input=data, capture_output=True)
    return set(done.stderr.decode().split())


def test_reading_text_imports_no_unused_modules() -> None:
    imported = _imported_by("rdf", "to-jelly", "--in-format", "nt", "--to", os.devnull, data=LINES)
    assert "jellyframe.kernel.encode_cy" in imported
    assert not imported & {"pyarrow", "pyoxigraph", "google.protobuf", "jellyframe.kernel.decode_cy"}
    assert not imported & {"jellyframe.kernel.draft_encode_cy", "jellyframe.stream.reader", "pathlib"}


def test_writing_text_imports_no_unused_modules(jelly: bytes) -> None:
    imported = _imported_by("rdf", "from-jelly", "--out-format", "nt", "--to", os.devnull, data=jelly)
    assert "jellyframe.kernel.decode_cy" in imported
    assert not imported & {"jellyframe.kernel.encode_cy", "jellyframe.kernel.draft_decode_cy"}
    assert not imported & {"jellyframe.stream.writer", "jellyframe.stream.recovery", "pathlib"}


def test_transcoding_one_piece_imports_no_processes(jelly: bytes, tmp_path: Path) -> None:
    source = tmp_path / "a.jelly"
    source.write_bytes(jelly)
    imported = _imported_by("rdf", "transcode", str(source), "--to", str(tmp_path / "b.jelly"), "--opt.stream-name=x")
    assert not imported & {"multiprocessing", "concurrent.futures", "ctypes", "tempfile"}
