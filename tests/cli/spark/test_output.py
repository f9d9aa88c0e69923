"""Options of the output of Spark commands, without Spark."""

from __future__ import annotations

from typing import Any

import pytest

from jellyframe.cli.commands import build_parser
from jellyframe.cli.console import UsageError
from jellyframe.cli.spark.output import output_settings


def settings(*options: str) -> dict[str, Any]:
    return output_settings(build_parser().parse_args(["spark", "convert", "x.nt", "--to", "y", *options]))


@pytest.mark.parametrize("name", ["parquet", "Parquet", ".parquet"])
def test_tables_have_a_layout_however_their_format_is_spelled(name: str) -> None:
    assert settings("--out-format", name, "--layout", "flat")["out_format"] == "parquet"


def test_other_formats_have_no_layout() -> None:
    for options in ([], ["--out-format=nq"]):
        with pytest.raises(UsageError, match="--layout is for --out-format parquet"):
            settings("--layout=flat", *options)
