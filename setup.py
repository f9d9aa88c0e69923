"""Compiles the kernel; everything else about the package is in pyproject.toml.

Every `src/jellyframe/kernel/*_cy.py` becomes an extension module beside its source. They are compiled
all or none, because compiled modules share C types that their uncompiled twins do not have. Where they
cannot be compiled the package installs all the same and runs from the sources.

JELLYFRAME_REQUIRE_COMPILED=1 makes that a build failure instead; `=if-compiler` does so only where a
C compiler works, so that mistakes in the kernel show while a machine without one still gets a package.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

# Setuptools has no class of its own for this command, and brings distutils along.
from distutils.command.install_data import install_data  # isort: skip

KERNEL = Path("src", "jellyframe", "kernel")
TRANSLATED = Path("build", "cython")
# Cython's own code for memoryviews, compiled once instead of into every module, which takes much longer.
CYTHON_UTILITIES = "jellyframe.kernel._cyutility"
COMPILER_TROUBLE = (BaseError, CCompilerError, OSError)
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": True,
    "wraparound": False,
    "initializedcheck": False,
    "embedsignature": True,
}


class KernelCannotBeCompiledError(Exception):
    """Says in one line why; `compiler_works` tells whether the kernel itself is to blame."""

    def __init__(self, reason: str, *, compiler_works: bool) -> None:
        super().__init__(reason)
        self.compiler_works = compiler_works


class BuildKernel(build_ext):
    def run(self) -> None:
        try:
            super().run()
        except KernelCannotBeCompiledError as trouble:
            if _must_compile(trouble):
                raise SystemExit(f"jellyframe: the kernel cannot be compiled: {trouble}") from trouble
            self._leave_pure()
            print(
                f"jellyframe: {trouble}; the pure Python kernel is in use (same results, slower)",
                file=sys.stderr,
            )

    def build_extensions(self) -> None:
        if not self._compiler_works():
            raise KernelCannotBeCompiledError("no C compiler works here", compiler_works=False)
        self._translate()
        if self.compiler.compiler_type in ("unix", "mingw32"):
            for extension in self.extensions:
                extension.extra_compile_args += ["-O3", "-g0", "-Wno-stringop-overflow", "-Wno-array-bounds"]
        self.parallel = self.parallel or True
        try:
            super().build_extensions()
        except COMPILER_TROUBLE as error:
            raise KernelCannotBeCompiledError(f"its C code fails: {error}", compiler_works=True) from error

    def _compiler_works(self) -> bool:
        with TemporaryDirectory() as folder:
            probe = Path(folder, "probe.c")
            probe.write_text("#include <Python.h>\nint probe(void) { return PY_MAJOR_VERSION; }\n")
            try:
                self.compiler.compile([str(probe)], output_dir=folder)
            except COMPILER_TROUBLE:
                return False
        return True

    def _translate(self) -> None:
        """Turns the Python sources of the extensions into C, those that changed."""
        try:
            from Cython.Compiler import Options

            # Memoryviews are passed by value, and ours have one dimension: room for eight, Cython's default, makes each
            # call copy two hundred bytes. Cython wants one more than is used, and reads this when it is imported.
            Options.buffer_max_dims = 2
            from Cython.Build import cythonize
            from Cython.Compiler.Errors import CompileError
        except ModuleNotFoundError:
            raise KernelCannotBeCompiledError("Cython is not installed", compiler_works=False) from None
        try:
            translated = cythonize(
                self.extensions,
                build_dir=str(TRANSLATED),
                include_path=["src"],
                compiler_directives=DIRECTIVES,
                shared_utility_qualified_name=CYTHON_UTILITIES,
                force=self.force or _older_than_this_file(TRANSLATED.rglob("*.c")),
                quiet=True,
            )
        except CompileError as error:
            raise KernelCannotBeCompiledError(f"Cython refuses {error}", compiler_works=True) from error
        # setuptools has put attributes of its own on its extension objects, so those stay.
        by_name = {extension.name: extension for extension in translated}
        for extension in self.extensions:
            extension.sources = by_name[extension.name].sources
            extension.depends = by_name[extension.name].depends

    def _leave_pure(self) -> None:
        """Takes away what an earlier or a half-done build left, which imports would prefer to the sources."""
        for extension in self.extensions:
            built = Path(self.get_ext_fullpath(extension.name))
            in_place = KERNEL / built.name
            built.unlink(missing_ok=True)
            in_place.unlink(missing_ok=True)
        self.extensions.clear()


class InstallBesidePackages(install_data):
    """Puts data files beside the packages, where Python looks for `.pth` files when it starts."""

    def finalize_options(self) -> None:
        self.set_undefined_options("install", ("install_lib", "install_dir"))
        super().finalize_options()


class DistributionWithData(Distribution):
    """Says under the name that editable installations ask for, too, that there are data files."""

    def has_data(self) -> bool:
        return bool(self.has_data_files())


def _must_compile(trouble: KernelCannotBeCompiledError) -> bool:
    required = os.environ.get("JELLYFRAME_REQUIRE_COMPILED", "0")
    if required == "if-compiler":
        return trouble.compiler_works
    return required not in ("", "0")


def _older_than_this_file(paths) -> bool:
    changed = Path(__file__).stat().st_mtime
    return any(path.stat().st_mtime < changed for path in paths)


setup(
    distclass=DistributionWithData,
    ext_modules=[
        Extension(CYTHON_UTILITIES, []),
        *(
            Extension(f"jellyframe.kernel.{source.stem}", [source.as_posix()])
            for source in sorted(KERNEL.glob("*_cy.py"))
        ),
    ],
    cmdclass={"build_ext": BuildKernel, "install_data": InstallBesidePackages},
    # It has rdflib know Jelly without an import: see src/jellyframe_rdflib.py.
    data_files=[("", ["src/jellyframe-rdflib.pth"])],
)
