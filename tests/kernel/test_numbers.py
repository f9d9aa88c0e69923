"""The numbers that are written down twice, for Python and for C, are the same."""

import re
from pathlib import Path

import pytest

from jellyframe import kernel
from jellyframe.kernel import fields, kinds, patch_fields


@pytest.mark.parametrize("module", [fields, kinds, patch_fields], ids=["fields", "kinds", "patch_fields"])
def test_c_constants_equal_the_python_ones(module) -> None:
    name = module.__name__.rpartition(".")[2]
    declared = Path(kernel.__file__).with_name(f"{name}.pxd").read_text()
    numbers = {key: int(value) for key, value in re.findall(r"^    ([A-Z_]+) = (\d+)$", declared, re.MULTILINE)}
    assert numbers == {key: value for key, value in vars(module).items() if key.isupper()}
    assert numbers
