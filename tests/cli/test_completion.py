"""The completion scripts, run by the shells that are installed here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.command import run

_ASK_BASH = """
source "$1"
cd "$2"
shift 2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_shtab_jellyframe
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def bash_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    path = tmp_path_factory.mktemp("completion") / "jellyframe.sh"
    path.write_bytes(run("completion", "bash").out)
    return path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rd"], {"rdf"}),
        (["rdf", "t"], {"to-jelly", "to-neo4j", "transcode"}),
        (["rdf", "to-jelly", "--opt.max-p"], {"--opt.max-prefix-table-size"}),
        (["rdf", "to-jelly", "--compress", ""], {"gzip", "zstd", "none"}),
        (["rdf", "from-jelly", "--out-format", "j"], {"jelly", "jsonld", "jelly-text"}),
        (["rdf", "transcode", "--opt.physical-type", "Q"], {"QUADS"}),
        (["rdf", "transcode", "--quiet", "one"], {"one.jelly"}),
        (["rdf", "to-jelly", "--to", "t"], {"two.jelly"}),
        (["spark", "p"], {"partition"}),
        (["spark", "convert", "--out-format", "n"], {"nq", "nt"}),
        (["completion", "f"], {"fish"}),
    ],
)
def test_bash_completes_commands_options_and_files(
    bash_script: Path, words: list[str], expected: set[str], tmp_path: Path
) -> None:
    for name in ("one.jelly", "two.jelly"):
        (tmp_path / name).touch()
    done = subprocess.run(
        ["bash", "-c", _ASK_BASH, "ask", str(bash_script), str(tmp_path), "jellyframe", *words],
        check=True,
        capture_output=True,
        text=True,
    )
    assert set(done.stdout.split()) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_for_other_shells_are_valid(shell: str, tmp_path: Path) -> None:
    script = run("completion", shell).out
    assert b"to-jelly" in script
    assert b"max-name-table-size" in script
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} to read the script")
    path = tmp_path / "script"
    path.write_bytes(script)
    subprocess.run([shell, "-n", str(path)], check=True)
