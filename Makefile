# RagForge: `make run` shows it at work, `make test` proves it. Everything else is below.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# uv is much faster, if it is installed.
INSTALL := $(if $(shell command -v uv),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check)
PYTEST := $(BIN)/python -m pytest --numprocesses=auto --dist=loadgroup
# Tests start Python many times: keep its bytecode, whatever the default of the machine is.
export PYTHONDONTWRITEBYTECODE :=
QUESTION ?= How does a worker keep the lease of a job?

.PHONY: help run test test-all test-fast coverage pytest check format docs bench campaign neo4j neo4j-stop lock dist binary installations clean

help: ## Show this list
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: $(VENV)/.run ## Set everything up, read this project and answer a question about it
	$(BIN)/ragforge ingest
	$(BIN)/ragforge ask "$(QUESTION)"
	$(BIN)/ragforge sessions list

test: $(VENV)/.dev ## Format, lint, types, layers and tests: everything a change must pass; about ten minutes on two idle cores
	@$(MAKE) --no-print-directory --jobs=2 --keep-going check pytest

test-all: $(VENV)/.dev ## The same plus the slow tests: kills, every flow on Neo4j, the browser, many examples
	@$(MAKE) --no-print-directory --jobs=2 --keep-going check pytest WITH=--thorough

test-fast: $(VENV)/.dev ## Unit, contract and security tests without a server or a browser, in two minutes
	$(PYTEST) -m "not neo4j and not browser" tests/unit tests/contract tests/security

coverage: $(VENV)/.dev ## The tests of `make test`, and the lines and branches that none of them reaches
	$(PYTEST) --cov --cov-report=term

pytest: $(VENV)/.dev
	$(PYTEST) $(WITH)

check: $(VENV)/.dev ## Format, lint, types, layers, words
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --quiet tests/unit/test_english.py

format: $(VENV)/.dev ## Format the code and fix lint errors
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs ## Build the documentation site in build/site, and check every link
	$(BIN)/python -m scripts.docs_site

bench: $(VENV)/.dev ## Measure speed and quality next to peers: benchmarks/results/latest.md; BENCH="--fetch" for all of it
	$(BIN)/python -m benchmarks $(BENCH)

campaign: $(VENV)/.dev ## Kill, damage and mislead RagForge at random, and count what is lost; takes half an hour on an idle machine
	$(BIN)/python -m scripts.campaign --report .cache/campaign.json

neo4j: ## Start a Neo4j server on bolt://127.0.0.1:7687 (Ctrl-C stops it)
	$(PYTHON) scripts/neo4j_server.py

lock: $(VENV)/.dev ## Choose new versions of all dependencies
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --no-strip-extras --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --no-strip-extras --universal --python-version 3.11 --generate-hashes --extra all --group dev \
	  --custom-compile-command "make lock" -c requirements.lock -o requirements-dev.lock pyproject.toml
	@# What `ragforge model` installs: without RagForge's own dependencies, which are installed already.
	for extra in openai anthropic google; do \
	  $(BIN)/uv pip compile --quiet --no-annotate --no-strip-extras --universal --python-version 3.11 --generate-hashes --extra $$extra \
	    $$(sed -nE 's/^([A-Za-z0-9_.-]+)(\[[^]]*\])?==.*/--no-emit-package \1/p' requirements.lock) \
	    --custom-compile-command "make lock" -c requirements-dev.lock -o src/ragforge/app/locks/$$extra.txt pyproject.toml || exit 1; \
	done

.cache/release/bin/twine:
	$(PYTHON) -m venv .cache/release
	.cache/release/bin/python -m pip install --quiet --disable-pip-version-check \
	  hatchling twine check-wheel-contents 'pyinstaller>=6.16'

dist: .cache/release/bin/twine ## Build wheel and sdist twice, compare their bytes and check what is in them
	.cache/release/bin/python -m scripts.distributions

binary: dist ## Build a program for this system that needs no Python
	.cache/release/bin/python -m scripts.binary

installations: dist ## Install the wheel with pip, uv and pipx into every Python here, and measure it
	.cache/release/bin/python -m scripts.installations

clean: ## Remove the virtual environment and all caches
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache .coverage*

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("RagForge needs Python 3.11 or newer, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --no-deps --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --editable .
	@$(BIN)/python -m compileall -q src  # as an installed program has it: commands start sooner
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	$(INSTALL) --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/.dev
	$(INSTALL) $$(sed -nE 's/^docs = \["(.*)"\]$$/\1/p' pyproject.toml)
	@touch $@
