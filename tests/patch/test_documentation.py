"""The page on Jelly-Patch: its programs run, and the tests that it names are there."""

from __future__ import annotations

from pathlib import Path

from support.examples import ROOT, make_files, named_tests, run_programs, unnamed_tests

PAGE = "docs/patch.md"
TESTS = ROOT / "tests" / "patch"
RULES = "".join((TESTS / name).read_text("utf-8") for name in ("test_rules.py", "test_row_rules.py"))


def test_programs_run(tmp_path: Path) -> None:
    make_files(tmp_path)
    output = run_programs(PAGE, tmp_path)
    assert 'A <http://example.org/alice> <http://xmlns.com/foaf/0.1/name> "Alice Liddell" .\n' in output


def test_every_test_that_the_page_names_is_there() -> None:
    named = named_tests(PAGE)
    assert len(named) > 50
    for file, name in named:
        source = TESTS.joinpath(file).read_text("utf-8") if file else RULES
        assert f"def {name}(" in source, name


def test_every_test_of_a_rule_is_named_on_the_page() -> None:
    assert unnamed_tests(RULES, PAGE) == []
