"""Every example that serves runs, and so does what the documentation shows to be done with a server."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.examples import ROOT, Example, help_examples, make_files, page_commands, page_programs, run_command
from support.web_processes import Served, ask, serving_process

PAGES = ("README.md", "docs/http.md", "docs/view.md")
# The same command may be shown in several places.
EXAMPLES = {
    example.command: example
    for example in (*help_examples(), *(example for page in PAGES for example in page_commands(page)))
}


@pytest.mark.parametrize(
    "example",
    [example for example in EXAMPLES.values() if example.is_server],
    ids=lambda example: f"{example.place}: {example.command}",
)
def test_the_serve_command_of_the_page_runs(example: Example, tmp_path: Path) -> None:
    make_files(tmp_path)
    words = example.command.split()[1:]
    quiet = ["--no-browser"] if words[0] == "view" else []
    with serving_process(*words, *quiet, cwd=tmp_path) as served:
        assert ask(served, f"/{served.url.partition('/')[2].partition('/')[2].partition('/')[2]}").status == 200


def _addressed(text: str, served: Served) -> str:
    return text.replace("https://example.org", served.url).replace("http://127.0.0.1:8080", served.url)


def test_commands_and_programs_of_the_page_run(tmp_path: Path) -> None:
    make_files(tmp_path)
    with serving_process("http", "serve", tmp_path, cwd=tmp_path) as served:
        for example in page_commands("docs/http.md"):
            if not example.is_server:
                run_command(_addressed(example.command, served), tmp_path)
        source = "import jellyframe\n" + "\n\n".join(page_programs("docs/http.md"))
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", _addressed(source, served).replace("…", "pass")],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stderr}\n{source}"
        assert "people.jelly jelly" in done.stdout


def test_the_example_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "examples.http.serve_and_read"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1000 data sets in one response" in done.stdout
