"""Errors of workers are raised as the original errors."""

from __future__ import annotations

import pytest

from jellyframe.errors import Advice, LimitError, OptionsError, split_advice
from jellyframe.spark.jobs.errors import plain_error


@pytest.mark.parametrize(
    "advice",
    [
        None,
        Advice("limit", "max_frame_bytes"),
        Advice("argument", "concatenated", "True"),
        Advice("argument", "batch_rows"),
        Advice("stream option", "logical_type", "FLAT_QUADS"),
        Advice("stream option", "max_name_table_size"),
    ],
)
def test_advice_survives_errors_of_spark(advice):
    error = LimitError("a frame of 9 bytes; too large", source="a.jelly", advice=advice)
    assert split_advice(str(error)) == ("a.jelly: a frame of 9 bytes; too large", advice)
    wrapped = Exception(f"Job aborted\nTraceback (most recent call last):\n  jellyframe.errors.LimitError: {error}\n")
    assert (plain_error(wrapped).message, plain_error(wrapped).advice) == split_advice(str(error))
    assert isinstance(plain_error(wrapped), LimitError)


def test_errors_of_spark_are_shortened():
    wrapped = Exception("x\n jellyframe.errors.OptionsError: first\n jellyframe.errors.OptionsError: last\n")
    assert str(plain_error(wrapped)) == "last"
    assert isinstance(plain_error(wrapped), OptionsError)
    assert str(plain_error(Exception("one\ntwo"))) == "Spark: one"
