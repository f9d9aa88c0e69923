"""Standard streams that are closed or full, signals, and names that are not UTF-8: the exit code, and one line."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jellyframe.cli.arguments import CommandParser
from support.command import COMMAND, command_at_work, environment, error_of, run, terminal

LINES = b"".join(b'<http://a/s%d> <http://a/p> "%d" .\n' % (i, i) for i in range(2000))
# Commands that write to standard output.
COMMANDS = {
    "help": ["--help"],
    "rdf help": ["rdf", "--help"],
    "to-jelly help": ["rdf", "to-jelly", "--help"],
    "spark help": ["spark", "convert", "--help"],
    "version option": ["--version"],
    "version": ["version"],
    "completion": ["completion", "bash"],
    "to-jelly": ["rdf", "to-jelly", "in.nt"],
    "from-jelly": ["rdf", "from-jelly", "in.jelly"],
    "from-jelly ttl": ["rdf", "from-jelly", "in.jelly", "--out-format", "ttl"],
    "from-jelly parquet": ["rdf", "from-jelly", "in.jelly", "--out-format", "parquet"],
    "from-jelly text": ["rdf", "from-jelly", "in.jelly", "--out-format", "jelly-text"],
    "from-jelly gzip": ["rdf", "from-jelly", "in.jelly", "--compress", "gzip"],
    "transcode": ["rdf", "transcode", "in.jelly"],
    "transcode other": ["rdf", "transcode", "in.jelly", "--preset", "small"],
    "inspect": ["rdf", "inspect", "in.jelly"],
    "inspect frames": ["rdf", "inspect", "in.jelly", "--per-frame"],
    "validate": ["rdf", "validate", "in.jelly"],
    "/dev/stdout": ["rdf", "from-jelly", "in.jelly", "--to", "/dev/stdout"],
    "patch from-jelly": ["patch", "from-jelly", "in.jellyp"],
    "patch apply": ["patch", "apply", "in.nt", "in.jellyp"],
    "patch log": ["patch", "log", "in.jellyp"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "in.nt").write_bytes(LINES)
    run("rdf", "to-jelly", "in.nt", "--to", "in.jelly", cwd=folder)
    (folder / "empty.nt").touch()
    run("patch", "diff", "empty.nt", "in.nt", "--to", "in.jellyp", cwd=folder, code=1)
    (folder / "bad.jelly").write_bytes(b"nonsense")
    return folder


def shell(arguments: list[str], redirection: str, folder: Path, **variables: str) -> tuple[int, bytes, str]:
    """Run a command with the redirection of a shell: its exit code, and what it wrote to both streams."""
    done = subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", *COMMAND, *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=environment(**variables),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_unwritable_standard_output_is_an_error(command: str, folder: Path) -> None:
    for redirection, unbuffered, complaint in (
        (">&-", "", "standard output is closed"),
        ("> /dev/full", "", "standard output: No space left on device"),
        ("> /dev/full", "1", "standard output: No space left on device"),
    ):
        code, _out, err = shell(COMMANDS[command], redirection, folder, PYTHONUNBUFFERED=unbuffered)
        assert (code, err.count("\n")) == (2, 1), (redirection, err)
        assert err.startswith(f"jellyframe: error: {complaint}"), (redirection, err)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_broken_pipe_ends_the_command_quietly(command: str, folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for unbuffered in ("", "1"):
        done = subprocess.run(
            [*COMMAND, *COMMANDS[command]],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment(PYTHONUNBUFFERED=unbuffered),
            check=False,
        )
        assert (done.returncode, done.stderr) == (141, b"")
    os.close(writing)


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_unwritable_standard_error_changes_nothing_else(redirection: str, folder: Path) -> None:
    for command in ("version", "from-jelly", "inspect", "validate", "transcode other"):
        usual = run(*COMMANDS[command], cwd=folder)
        assert shell(COMMANDS[command], redirection, folder) == (0, usual.out, "")
    for arguments, code in (
        (["rdf", "nonsense"], 2),
        (["rdf", "from-jelly", "bad.jelly"], 2),
        (["rdf", "from-jelly", "bad.jelly", "--debug"], 2),
        (["rdf", "from-jelly", "none.jelly"], 2),
    ):
        assert shell(arguments, redirection, folder) == (code, b"", "")
    assert shell(["rdf", "validate", "bad.jelly"], redirection, folder)[0] == 1


def test_all_standard_streams_closed(folder: Path) -> None:
    assert shell(["rdf", "to-jelly", "in.nt", "--to", "out.jelly"], "<&- >&- 2>&-", folder) == (0, b"", "")
    assert (folder / "out.jelly").read_bytes() == (folder / "in.jelly").read_bytes()
    (folder / "out.jelly").unlink()
    code, _out, err = shell(["rdf", "to-jelly", "--in-format", "nt", "--to", "out.jelly"], "<&-", folder)
    assert code == 2
    assert "there is no standard input" in err


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_paths_of_standard_output_mean_the_same_as_a_hyphen(path: str, folder: Path) -> None:
    """Also where the name of the output tells its format, and where two outputs must not be mixed."""
    (folder / "change.rdfp").write_text("A <a:s> <a:p> <a:o> .\n")
    for arguments in (
        ["rdf", "from-jelly", "in.jelly", "--to"],
        ["rdf", "inspect", "in.jelly", "--html"],
        ["patch", "apply", "in.nt", "change.rdfp", "--to"],
        ["patch", "invert", "change.rdfp", "--to"],
    ):
        expected = run(*arguments, "-", cwd=folder)
        assert run(*arguments, path, cwd=folder) == expected
        assert expected.out
    refused = run("patch", "apply", "in.nt", "change.rdfp", "--json", "--to", path, cwd=folder, code=2)
    assert "--json takes standard output" in refused.err


def test_an_empty_name_of_an_output_is_refused(folder: Path) -> None:
    assert "the name of the output is empty" in run("rdf", "from-jelly", "in.jelly", "--to", "", code=2, cwd=folder).err


@pytest.mark.parametrize(
    ("words", "is_true"), [(["--x"], True), (["--x=false"], False), (["--x", "false"], False), (["--x", "true"], True)]
)
def test_a_switch_takes_its_value_with_an_equals_sign_or_as_the_next_word(words: list[str], *, is_true: bool) -> None:
    parser = CommandParser()
    parser.add_inputs("files")
    parser.add_switch("--x", help="a switch")
    for before, after in ((["a"], []), ([], ["a"]), (["a"], ["--x"])):
        parsed = parser.parse_args([*before, *words, *after])
        assert (parsed.inputs, parsed.x) == (["a"], is_true or after == ["--x"])
    assert parser.parse_args([*words, "./false"]).inputs == ["./false"]


def test_dev_stdout_is_standard_output(folder: Path) -> None:
    """Also where that is a file to which others write too."""
    code, out, err = shell(
        ["rdf", "from-jelly", "in.jelly", "--out-format", "nt", "--to", "/dev/stdout"],
        '> all.nt; code=$?; "$@" >> all.nt; echo after >> all.nt; cat all.nt; rm all.nt; exit $code',
        folder,
    )
    assert (code, err) == (0, "")
    assert out == LINES * 2 + b"after\n"


def test_exceeding_the_file_size_limit_is_an_error(folder: Path) -> None:
    """As on a full disk: nothing is cut with exit code 0."""
    arguments = ["rdf", "from-jelly", "in.jelly", "--out-format", "nt"]
    for unbuffered in ("", "1"):
        for to in ("> cut.nt", "--to cut.nt"):
            shell(arguments, to, folder)
            done = subprocess.run(
                ["bash", "-c", f'ulimit -f 32; "$@" {to}', "bash", *COMMAND, *arguments],
                capture_output=True,
                cwd=folder,
                env=environment(PYTHONUNBUFFERED=unbuffered),
                check=False,
            )
            name = "standard output" if to.startswith(">") else "cut.nt"
            assert done.returncode == 2
            assert done.stderr.decode() == f"jellyframe: error: {name}: File too large\n"
            assert (folder / "cut.nt").read_bytes() == (LINES[: 32 * 1024] if to.startswith(">") else LINES)
    assert not [path for path in folder.iterdir() if path.name.endswith(".part")]


# ---- signals ----


@contextmanager
def endless_command(folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that has begun to write a file, and waits for more input."""
    with terminal() as ends, command_at_work(*ends, "--to", folder / "out.nq", before=options) as process:
        assert [path.suffix for path in folder.iterdir()] == [".part"]
        yield process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_process_and_leave_nothing(number: signal.Signals, tmp_path: Path) -> None:
    with endless_command(tmp_path) as process:
        process.send_signal(number)
        assert process.wait() == -number
    assert list(tmp_path.iterdir()) == []


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    with endless_command(tmp_path, "bash", "-c", 'trap "" HUP; exec "$@"', "bash") as process:
        process.send_signal(signal.SIGHUP)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.nq"]


def test_the_next_run_removes_the_part_of_a_killed_one(tmp_path: Path) -> None:
    with endless_command(tmp_path) as process:
        process.kill()
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    run("rdf", "from-jelly", "--to", tmp_path / "out.nq", data=b"nonsense", code=2)
    assert list(tmp_path.iterdir()) == []


# ---- names ----


def test_names_that_are_not_utf8_are_shown_escaped(folder: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.jelly")
    (folder / name).write_bytes((folder / "in.jelly").read_bytes())
    bad = os.fsdecode(b"bad\xff.jelly")
    (folder / bad).write_bytes(b"nonsense")
    assert run("rdf", "validate", name, cwd=folder).out.startswith(rb"\xff\xfe.jelly: valid")
    assert rb"\xff" in run("rdf", "validate", "--json", name, cwd=folder).out
    assert rb"bad\xff.jelly: invalid" in run("rdf", "validate", bad, cwd=folder, code=1).out
    assert r"bad\xff.jelly" in error_of("rdf", "from-jelly", bad, cwd=folder)
    assert r"none\xff.jelly: No such file" in error_of("rdf", "from-jelly", os.fsdecode(b"none\xff.jelly"), cwd=folder)
    page = os.fsdecode(b"\xff.html")
    assert r"the page is in \xff.html" in run("rdf", "inspect", name, "--html", page, cwd=folder).err
    assert rb"\xff\xfe.jelly" in (folder / page).read_bytes()
    for option in ("--opt.stream-name", "--in-format", "--preset", "--restart-every", "--rows-per-frame", "--nonsense"):
        message = error_of("rdf", "to-jelly", "in.nt", option, "\udcff", cwd=folder)
        assert r"\udcff" in message or r"\xff" in message
    for path in (folder / name, folder / bad, folder / page):
        path.unlink()


def test_output_in_ascii(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "rdf", "to-jelly", "--help"],
        capture_output=True,
        env=environment(PYTHONIOENCODING="ascii", LC_ALL="C"),
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr == b""
