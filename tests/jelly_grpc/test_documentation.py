"""The page on gRPC and the examples: programs run, settings are valid, and the tests that the page names are there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jellyframe.grpc.config_file import read_config
from support.examples import ROOT, page_programs

PAGE = "docs/grpc.md"
TESTS = Path(__file__).parent


def test_programs_of_the_server_run(tmp_path: Path) -> None:
    (program,) = [program for program in page_programs(PAGE) if "Server(" in program]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"127\.0\.0\.1:[0-9]+\n", done.stdout)


def test_every_test_that_the_page_names_is_there() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) > 25
    assert [name for name in named if f"def {name}(" not in sources] == []


def test_every_test_of_a_rule_is_named_on_the_page() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    tests = re.findall(r"^def (test_\w+)\(", (TESTS / "test_rules.py").read_text("utf-8"), re.MULTILINE)
    assert [name for name in tests if f"`{name}`" not in page] == []


def test_the_settings_of_the_examples_are_valid(tmp_path: Path) -> None:
    example = ROOT / "examples" / "grpc" / "server.toml"
    settings = read_config(example)
    assert settings.topics["sensors/temperature"].max_age == 7 * 86400
    # What is commented out is valid, too.
    everything = re.sub(r"^# ([a-z0-9_]+ = |\[)", r"\1", example.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (tmp_path / "all.toml").write_text(everything, encoding="utf-8")
    everything_set = read_config(tmp_path / "all.toml")
    assert everything_set.tls is not None
    assert everything_set.tokens[0].name == "gateway"


def test_the_unit_and_the_image_use_valid_commands() -> None:
    from jellyframe.cli.commands import build_parser

    folder = ROOT / "examples" / "grpc"
    unit = (folder / "jellyframe-grpc.service").read_text()
    lines = [line.split() for line in re.findall(r"^Exec(?:StartPre|Start)=\S+/jellyframe (.+)$", unit, re.MULTILINE)]
    assert len(lines) == 2
    image = re.findall(r"^(?:ENTRYPOINT|CMD) \[(.+)\]$", (folder / "Dockerfile").read_text(), re.MULTILINE)
    lines.append(re.findall(r'"(.+?)"', ", ".join(image))[1:])
    for words in lines:
        assert build_parser(words).parse_args(words).run.__module__ == "jellyframe.cli.grpc.serve"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = (ROOT / "examples" / "grpc" / "jellyframe-grpc.service").read_text(encoding="utf-8")
    path = tmp_path / "jellyframe-grpc.service"
    path.write_text(unit.replace("/opt/jellyframe/bin/jellyframe", sys.executable), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
