"""The job on Spark: files and DataFrames, exact and approximate, bad input, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jellyframe.errors import TextError
from jellyframe.spark import jobs
from support.command import error_of, run
from support.spark_data import SPECIAL, quads, write_jelly

STATEMENTS = [*quads(5000), *SPECIAL]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same statements twice, in a file each of Jelly and N-Quads, and one more."""
    folder = tmp_path_factory.mktemp("statistics")
    write_jelly(folder / "a.jelly", STATEMENTS)
    lines = "".join(f"{statement.to_line()}\n" for statement in STATEMENTS)
    (folder / "b.nq").write_text(f"{lines}<http://example.org/new> <http://example.org/p0> <http://example.org/o1> .\n")
    return folder


def distinct(**more: int) -> dict[str, int]:
    counts = {
        "subjects": len({quad.s for quad in STATEMENTS}),
        "predicates": len({quad.p for quad in STATEMENTS}),
        "objects": len({quad.o for quad in STATEMENTS}),
        "graphs": len({str(quad.g) for quad in STATEMENTS if str(quad.g)}),
        "classes": 0,
    }
    return {name: count + more.get(name, 0) for name, count in counts.items()}


def test_duplicates_count_once(spark: Any, folder: Path) -> None:
    result = jobs.stats(spark, folder, partition_bytes=5000)
    assert result.statements == 2 * len(STATEMENTS) + 1
    assert result.distinct == distinct(subjects=1)


@pytest.mark.parametrize("layout", ["struct", "ntriples", "flat"])
def test_a_data_frame_of_any_layout_is_counted(spark: Any, folder: Path, layout: str) -> None:
    frame = spark.read.format("jelly").option("layout", layout).load(str(folder / "a.jelly"))
    result = jobs.stats(spark, frame)
    assert result.statements == len(STATEMENTS)
    assert result.distinct == distinct()


def test_estimates_are_within_ten_percent(spark: Any, folder: Path) -> None:
    result = jobs.stats(spark, folder, approximate=True)
    assert result.is_approximate
    assert result.statements == 2 * len(STATEMENTS) + 1
    assert result.distinct == pytest.approx(distinct(subjects=1), rel=0.1)
    assert result.distinct["predicates"] == distinct()["predicates"]


def test_bad_lines_are_counted(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.nt"
    path.write_text("<http://a> <http://b> <http://c> .\nno statement\n")
    with pytest.raises(TextError, match="line 2"):
        jobs.stats(spark, path)
    result = jobs.stats(spark, path, mode="DROPMALFORMED")
    assert (result.statements, result.bad_records, result.problems) == (1, 1, [])
    result = jobs.stats(spark, path, mode="PERMISSIVE")
    assert "line 2" in result.problems[0]


def test_the_command_writes_statistics(folder: Path, tmp_path: Path) -> None:
    page, description = tmp_path / "page.html", tmp_path / "void.ttl"
    done = run("spark", "stats", folder, "--json", "--html", page, "--void", description, "--master", "local[1]")
    document = json.loads(done.out)
    assert document["statements"] == 2 * len(STATEMENTS) + 1
    assert document["distinct"] == distinct(subjects=1)
    assert page.read_text().startswith("<!doctype html>")
    assert f"void:triples {document['statements']} " in description.read_text()


def test_the_page_and_the_description_may_go_to_standard_output(folder: Path) -> None:
    done = run("spark", "stats", folder, "--html", "-", "--master", "local[1]", cwd=folder)
    assert done.out.startswith(b"<!doctype html>")
    assert done.out.endswith(b"</html>\n")
    assert not (folder / "-").exists()


def test_outputs_are_checked_before_spark_starts(folder: Path) -> None:
    for option in ("--to", "--html", "--void"):
        error = error_of("spark", "stats", folder, option, folder / "none" / "file")
        assert error.endswith("none/file: No such file or directory\n")
    error = error_of("spark", "stats", folder, "--void", "-", "--html", "/dev/stdout")
    assert "--void and --html cannot both go to standard output" in error


def test_a_bad_name_is_refused_before_spark_starts(folder: Path) -> None:
    assert "absolute IRI" in error_of("spark", "stats", folder, "--dataset", "no IRI")
