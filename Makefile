# Each target does all the set-up that it needs: a fresh clone and Python 3.11 or newer are enough.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo demo-endings demo-catalyst test lint bench docs clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "tamis needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[crosshair,languages]" --group dev
	@touch $(READY)

demo: $(READY)
	$(BIN)/tamis demo --into demo

demo-endings: $(READY)
	rm -rf demo-endings && cp -r examples/endings demo-endings
	$(BIN)/tamis run demo-endings --owner demo-endings/reader.py; test $$? -ne 1

demo-catalyst: $(READY)
	rm -rf demo-catalyst && cp -r examples/catalyst demo-catalyst
	$(BIN)/tamis run demo-catalyst --owner demo-catalyst/lab.py --batches 30; test $$? -ne 1

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: $(READY)
	@for b in benchmarks/*.py; do case $$b in */_*) ;; *) echo "== $$b"; $(BIN)/python $$b --small || exit 1;; esac; done

docs: $(READY)
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) demo dist build
