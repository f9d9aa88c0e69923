# Everything runs in .venv, which `make venv` makes and keeps up to date. PYTHON picks the interpreter it is made from.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNEL := src/jellyframe/kernel

# Without a C compiler the pure kernel is fine; with one, a kernel that does not compile is a mistake to see.
export JELLYFRAME_REQUIRE_COMPILED ?= if-compiler

INSTALLED := $(VENV)/installed.stamp
BUILT := $(VENV)/kernel-built.stamp

.PHONY: venv demo test test-pure interop soak lint proto docs bench clean

venv: $(BUILT)

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(BUILT): $(INSTALLED) setup.py $(wildcard $(KERNEL)/*_cy.py $(KERNEL)/*.pxd)
	$(BIN)/python setup.py --quiet build_ext --inplace
# An editable installation leaves this to the first import, and where that may not write it is done over and over.
	$(BIN)/python -m compileall -q src/jellyframe
	touch $@

demo: venv
	$(BIN)/python -m examples.demo

# Two processes: one has all tests that need a Spark session, the other the rest. PYTEST_ARGS=-n0 runs all in one.
test: lint
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

# The same tests where nothing is compiled: the sources, and the package as it is without a C compiler.
test-pure: venv
	JELLYFRAME_KERNEL=pure $(BIN)/python -m pytest $(PYTEST_ARGS)

# Many minutes: many clients, many kills, long runs.
soak: venv
	$(BIN)/python -m pytest tests/soak $(PYTEST_ARGS)

# Against Jelly-JVM, Jena, RDF4J, gRPC for Java and a Kafka broker, which Maven fetches. Where it does not find Jelly-JVM's
# modules for Pekko or for Jelly-Patch, the tests of those are skipped.
interop: venv
	@command -v mvn >/dev/null && command -v javac >/dev/null || { \
	  echo "make interop needs Maven and a JDK (17 or newer): mvn or javac is not on the path" >&2; exit 1; }
	mvn --batch-mode --quiet --file tests/jvm/java compile dependency:build-classpath -Dmdep.outputFile=$(CURDIR)/build/jvm/classpath
	mvn --batch-mode --quiet --file tests/jvm/kafka dependency:build-classpath -Dmdep.outputFile=$(CURDIR)/build/jvm/kafka-classpath
	rm -f build/jvm/pekko/classpath build/jvm/patch/classpath
	for module in pekko patch; do \
	  mvn --batch-mode --quiet --file tests/jvm/$$module dependency:build-classpath -Dmdep.outputFile=$(CURDIR)/build/jvm/$$module/classpath || continue; \
	  mvn --batch-mode --quiet --file tests/jvm/$$module compile || exit 1; \
	done
	$(BIN)/python -m pytest tests/jvm $(PYTEST_ARGS)

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

proto: venv
	$(BIN)/python proto/generate.py

docs: venv
	$(BIN)/python docs/make.py

bench: venv
	$(BIN)/python -m benchmarks

clean:
	rm -rf build dist src/*.egg-info $(KERNEL)/*.so $(KERNEL)/*.pyd
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis $(VENV)
