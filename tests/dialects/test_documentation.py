"""The page on the draft dialect: its programs run, and the tests that it names are there."""

from __future__ import annotations

from pathlib import Path

from support.examples import ROOT, named_tests, run_programs, unnamed_tests

PAGE = "docs/draft.md"
TESTS = ROOT / "tests" / "dialects"
RULES = "".join(TESTS.joinpath(name).read_text("utf-8") for name in ("test_draft_rules.py", "test_draft_term_rules.py"))


def test_programs_run(tmp_path: Path) -> None:
    run_programs(PAGE, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.jelly", "old.jelly"]


def test_every_test_that_the_page_names_is_there() -> None:
    named = named_tests(PAGE)
    assert len(named) > 60
    for file, name in named:
        source = TESTS.joinpath(file).read_text("utf-8") if file else RULES
        assert f"def {name}(" in source, name


def test_every_test_of_a_rule_is_named_on_the_page() -> None:
    assert unnamed_tests(RULES, PAGE) == []
