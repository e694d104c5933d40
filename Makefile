# The commands of the README. They need Python 3.11 or later, pip and make; the rest goes to .venv.

VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements-dev.lock
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
# the first Python that is new enough; `make test PYTHON=/path/to/python` chooses another
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11 python; do \
	$$each -c "$(NEW_ENOUGH)" 2>/dev/null && { echo $$each; break; }; done)
# of each part of a long command
SECONDS ?= 600
# what is run with the lowest versions: whatever touches a library of others
LOWEST ?= tests/io tests/engines tests/formats tests/policy tests/fuzz tests/models tests/labels tests/golden
CODE := src tests $(wildcard benchmarks docs/*.py docs/reproduction/*.py packaging/*.py)
# the tests start many processes: modules are kept compiled, whatever the environment says
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo studio test long fuzz soak mutants lowest crash here there beside kernels spark lint format docs dist bench lock clean

help:  ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.base  ## make up a hospital table, anonymise it, verify it; files go to demo/
	@$(BIN)/shoal demo --folder demo
	@echo "To have the shoal command in your shell: . $(BIN)/activate"

studio: $(VENV)/.studio  ## open the studio on the made-up hospital; files go to demo/
	@test -f demo/hospital.csv || $(BIN)/shoal demo --folder demo > /dev/null
	@$(BIN)/shoal studio demo/hospital.csv demo/policy.yaml

test: $(VENV)/.dev  ## check style, types and imports, then run all tests but the long ones
	@$(MAKE) --no-print-directory -j 2 lint kernels
	@$(MAKE) --no-print-directory -j 2 here beside

here: $(VENV)/.dev  ## the tests that need no Spark
	@$(BIN)/pytest -q -n 2 --dist worksteal --ignore tests/spark -m "not long"

long: $(VENV)/.dev  ## the tests that take long, which make test leaves out
	@$(BIN)/pytest -q -n 2 --dist worksteal --ignore tests/spark -m long
	@$(BIN)/pytest -q tests/spark -m long

# every case follows from one number; the next one, and all counts, are kept in benchmarks/results/fuzz-*.json
fuzz: $(VENV)/.fuzz  ## random whole runs and inputs, from where the last ones stopped; SECONDS=600 of each
	@for engine in memory disk spark; do \
		SHOAL_THREADS=1 $(BIN)/python -m tests.fuzz.campaign $$engine --seconds $(SECONDS) || exit 1; done
	@for parser in policy preset hierarchy csv label certificate address mapping seed; do \
		$(BIN)/python -m tests.fuzz.parsers $$parser --seconds $(SECONDS) || exit 1; done

soak: $(VENV)/.dev  ## 500 runs in one process, and 500 in 50 threads: memory, handles, bytes
	@$(BIN)/python -m tests.fuzz.soak --summary benchmarks/results/soak.json

mutants: $(VENV)/.dev  ## mutation tests of what judges a release, from where the last ones stopped
	@$(BIN)/python -m tests.mutants --seconds $(SECONDS)

lowest: $(VENV)/.python  ## the tests with the lowest versions that pyproject.toml allows
	@rm -rf $(VENV)-lowest && $(PYTHON) -m venv $(VENV)-lowest
	@$(PYTHON) packaging/lowest.py > $(VENV)-lowest/lowest.txt
	@$(VENV)-lowest/bin/pip install -qq --constraint $(VENV)-lowest/lowest.txt \
		--editable '.[report,excel,stats,sklearn]' pytest hypothesis pandas openpyxl
	@$(VENV)-lowest/bin/pytest -q -p no:cacheprovider -W default::DeprecationWarning -m "not long" $(LOWEST)

there: $(VENV)/.dev  ## the tests on a Spark cluster; needs Java
	@$(BIN)/pytest -q tests/spark

# a cluster is idle a quarter of its time, so other tests run meanwhile; its output is shown at its end
beside: $(VENV)/.dev
	@$(BIN)/pytest -q tests/spark -m "not long" > $(VENV)/there.txt 2>&1; told=$$?; cat $(VENV)/there.txt; exit $$told

spark: $(VENV)/.dev  ## all methods with all layouts of tables on a Spark cluster; needs Java
	@SHOAL_SPARK=thorough $(BIN)/pytest -q tests/spark

crash: $(VENV)/.dev  ## kill and fail runs at every step of their commit; counts are added up
	@$(BIN)/python -m tests.crashes.harness --times 1 --databases 60 --json benchmarks/results/crashes.json

kernels: $(VENV)/.dev  ## compile the kernels, once
	@$(BIN)/python -m tests.compiled

lint: $(VENV)/.dev  ## check style, types and imports
	@$(BIN)/ruff format --check -q $(CODE) || { \
		echo "These files are not formatted; 'make format' does it."; exit 1; }
	@$(BIN)/ruff check -q $(CODE)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev  ## format the code and mend what can be mended
	@$(BIN)/ruff check -q --fix-only $(CODE)
	@$(BIN)/ruff format $(CODE)

docs: $(VENV)/.dev  ## build the documentation site in build/site, and check its links
	@$(BIN)/python -m docs.website

dist: $(VENV)/.dev  ## build the package in dist/, install it into an empty environment and try it there
	@$(BIN)/python packaging/distribution.py

bench: $(VENV)/.dev  ## measure speed and memory; takes a while
	@$(BIN)/python benchmarks/run.py

lock:  ## pin the newest versions that fit pyproject.toml
	@rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	@$(VENV)-lock/bin/pip install -qq --upgrade pip
	@$(VENV)-lock/bin/pip install -qq '.[all]' --group dev --group docs --group dist --group bench
	@{ head -n 1 $(LOCK); $(VENV)-lock/bin/pip freeze --exclude shoal; } > $(VENV)-lock/new
	@mv $(VENV)-lock/new $(LOCK) && rm -rf $(VENV)-lock
	@echo "$(LOCK) is new; run 'make test'."

clean:  ## remove what was generated, compiled kernels too; .venv stays
	@rm -rf demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests $(wildcard benchmarks) -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Shoal needs Python 3.11 or later; found: $$(python3 --version 2>&1 || true)."; \
		echo "Install a newer one, or name it: make demo PYTHON=/path/to/python3.12"; \
		exit 1; \
	fi
	@$(PYTHON) -c "$(NEW_ENOUGH)" || { \
		echo "Shoal needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; exit 1; }
	@echo "Making an environment in $(VENV) with $$($(PYTHON) --version) .."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.base: pyproject.toml $(LOCK) | $(VENV)/.python
	@echo "Installing Shoal into $(VENV), once .."
	@$(PIP_INSTALL) --editable . --constraint $(LOCK)
	@touch $@

$(VENV)/.studio: pyproject.toml $(LOCK) | $(VENV)/.base
	@echo "Installing the studio into $(VENV), once .."
	@$(PIP_INSTALL) --editable '.[studio]' --constraint $(LOCK)
	@touch $@

$(VENV)/.fuzz: pyproject.toml | $(VENV)/.dev
	@echo "Installing the fuzzer into $(VENV), once .."
	@$(PIP_INSTALL) --upgrade 'pip>=25.1'  # the first that knows --group
	@$(PIP_INSTALL) --group fuzz --constraint $(LOCK)
	@touch $@

$(VENV)/.dev: pyproject.toml $(LOCK) | $(VENV)/.base
	@echo "Installing what the tests need into $(VENV), once .."
	@$(PIP_INSTALL) --requirement $(LOCK)
	@touch $@
