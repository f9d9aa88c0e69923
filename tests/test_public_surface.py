"""The public names, by inspection: each is documented, with its parameters, and typed."""

from __future__ import annotations

import enum
import inspect
import pydoc
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, is_typeddict

import pytest

import jellyframe
from jellyframe.formats import ntriples
from support.kernel_twins import load_twin_module

# Compiled classes have no signatures, so terms are looked at as they are uncompiled.
_TERMS = ("IRI", "BlankNode", "Literal", "DefaultGraph")
# Classes that users get from functions, which document the arguments.
_MADE_BY = {
    "JellyReader": "open_reader",
    "JellyWriter": "open_writer",
    "PatchWriter": "open_patch_writer",
}
# Packages whose names are public, beside those of `jellyframe` itself, and the modules for other libraries.
_PACKAGES = ("arrow", "batch", "formats", "ops", "ops.patches", "patch", "storage", "stream", "web")
_LIBRARIES = {"rdflib": "rdflib", "pyoxigraph": "pyoxigraph"}
# Classes of which users get objects from other functions and methods, which document the arguments.
_MADE_ELSEWHERE = frozenset(
    "DataApp AsyncClient AsyncPublisher AsyncSubscription Client Publisher Subscription".split()
)
# The result of a callback is ignored, so it may return anything.
_IGNORED_RESULT = re.compile(r"\], object\]")
_NO_COMMAND = frozenset("A An How Statements The These What Where Whether".split())
_NO_TYPE = re.compile(r"\b(?:Any|object)\b")


def public_modules() -> list[Any]:
    modules: list[Any] = [jellyframe, ntriples, *(import_module(f"jellyframe.{name}") for name in _PACKAGES)]
    for name, library in _LIBRARIES.items():
        if find_spec(library) is not None:
            modules.append(import_module(f"jellyframe.{name}"))
    if find_spec("pyspark") is not None:
        modules += [import_module("jellyframe.spark"), import_module("jellyframe.spark.jobs")]
    if find_spec("grpc") is not None:
        modules += [import_module("jellyframe.grpc"), import_module("jellyframe.grpc.aio")]
    return modules


def members(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Return the public methods and properties that a class defines or that one of our classes below it defines."""
    for base in kind.__mro__:
        if not base.__module__.startswith("jellyframe"):
            continue
        for name, value in vars(base).items():
            if isinstance(value, classmethod | staticmethod):
                value = value.__func__
            if isinstance(value, property) and value.fget is not None:
                value = value.fget
            if inspect.isfunction(value) and not name.startswith("_"):
                yield name, value


def surface() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for module in public_modules():
        for name in module.__all__:
            value = getattr(load_twin_module("pure", "terms") if name in _TERMS else module, name)
            if inspect.ismodule(value) or not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            found[f"{module.__name__}.{name}"] = value
            if inspect.isclass(value):
                found.update((f"{module.__name__}.{name}.{member}", function) for member, function in members(value))
    return found


SURFACE = surface()
by_name = pytest.mark.parametrize("name", SURFACE)


def parameters(value: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters that users pass."""
    if inspect.isclass(value) and (issubclass(value, enum.Enum | BaseException) or value.__name__ in _MADE_BY):
        return []
    if inspect.isclass(value) and value.__name__ in _MADE_ELSEWHERE:
        return []
    if is_typeddict(value) or getattr(value, "_is_protocol", False):
        return []
    if inspect.isclass(value) and value.__module__.startswith("pyspark"):
        return []
    found = list(inspect.signature(value).parameters.values())
    return [one for one in found if one.name not in ("self", "cls")]


def type_text(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _IGNORED_RESULT.sub("]]", text)


@by_name
def test_the_first_line_is_a_sentence(name: str) -> None:
    first = (SURFACE[name].__doc__ or "").strip().partition("\n")[0]
    assert first.endswith("."), first
    owner, _, member = name.rpartition(".")
    is_property = isinstance(inspect.getattr_static(SURFACE.get(owner), member, None), property)
    if inspect.isfunction(SURFACE[name]) and not is_property:
        # What the function does, as a command.
        assert first.split()[0] not in _NO_COMMAND, first


@by_name
def test_every_parameter_is_documented(name: str) -> None:
    documentation = SURFACE[name].__doc__ or ""
    for parameter in parameters(SURFACE[name]):
        named = rf"`[^`\n]*\b{parameter.name}\b[^`\n]*`|^\s*(?:\w+, )*{parameter.name}(?:, \w+)*:"
        assert re.search(named, documentation, re.MULTILINE), parameter.name


@by_name
def test_every_parameter_and_result_has_a_type(name: str) -> None:
    value = SURFACE[name]
    for parameter in parameters(value):
        assert parameter.annotation is not parameter.empty, parameter.name
        assert not _NO_TYPE.search(type_text(parameter.annotation)), parameter
    if inspect.isfunction(value):
        result = inspect.signature(value).return_annotation
        assert result is not inspect.Signature.empty
        assert not _NO_TYPE.search(type_text(result)), result


@pytest.mark.parametrize("name", _MADE_BY)
def test_arguments_of_classes_are_those_of_the_function(name: str) -> None:
    documentation = getattr(jellyframe, _MADE_BY[name]).__doc__
    for parameter in list(inspect.signature(getattr(jellyframe, name)).parameters):
        assert re.search(rf"^\s*{parameter}:", documentation, re.MULTILINE), parameter


def test_every_name_of_all_exists() -> None:
    for module in public_modules():
        assert sorted(module.__all__) == sorted(set(module.__all__))
        assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(
    "name", ["grpc.connect", "grpc.aio", "pyoxigraph.load", "pyoxigraph.dump", "rdflib.read_graphs", "spark.session"]
)
def test_modules_for_other_libraries_are_imported_on_use(name: str) -> None:
    program = f"import jellyframe\nassert jellyframe.{name} is not None"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_introduction_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    introduction = inspect.getdoc(jellyframe) or ""
    blocks = re.findall(r"(?:^(?:    .*)?\n)+", introduction, re.MULTILINE)
    examples = [textwrap.dedent(block) for block in blocks if block.strip()]
    assert len(examples) == 4
    names: dict[str, object] = {}
    for example in examples:
        exec(example, names)
    assert capsys.readouterr().out == '<http://example.org/ada> "Ada"\n'


def test_help_is_an_introduction() -> None:
    text = pydoc.plain(pydoc.render_doc(jellyframe))
    assert text.index("open_reader") < 1000
    for name in ("convert", "scan", "StreamOptions", "JellyError"):
        assert name in text
