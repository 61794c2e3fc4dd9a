# Everything works on a machine with Python 3.11+ and nothing else: the first target that needs it makes
# the virtual environment and installs the locked dependencies.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench chaos edits mutants readme lock clean
.DEFAULT_GOAL := test

# Runtime dependencies only: quick, for `make demo`.
$(VENV)/.runtime: requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=python3.x")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

# Everything the tests and checks need.
$(VENV)/.dev: $(VENV)/.runtime requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

demo: $(VENV)/.runtime
	$(BIN)/python -m addon demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python tests/benchmarks/engine.py
	$(BIN)/python tests/benchmarks/engine.py --stores sqlite --rows 100000 --latency 0 --concurrency 16
	$(BIN)/python tests/benchmarks/first_card.py

# Kill real processes, and everything else that can go wrong; `make chaos CHAOS="--kills 500 --seed 7"`.
CHAOS ?= --kills 200
chaos: $(VENV)/.dev
	PYTHONPATH=.:tests $(BIN)/python tests/chaos/chaos.py --store sqlite $(CHAOS)
	PYTHONPATH=.:tests $(BIN)/python tests/chaos/chaos.py --store firestore $(CHAOS)

# What people do to the sheet while a job runs, at random: 2,000 jobs, others each time.
edits: $(VENV)/.dev
	EXAMPLES=2000 $(BIN)/python -m pytest -q -s tests/integration/test_edits.py

# Change the code in one place at a time and see whether the tests notice; `make mutants MUTANTS="--sample 200"`.
mutants: $(VENV)/.dev
	PYTHONPATH=.:tests $(BIN)/python tests/mutants.py $(MUTANTS)

# Put the help texts and the settings table into README.md anew; a test compares them.
readme: $(VENV)/.dev
	PYTHONPATH=. $(BIN)/python tests/readme.py

# Pin the newest versions that pyproject.toml allows.
lock: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --no-emit-find-links pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --no-emit-find-links --extra dev pyproject.toml -c requirements.lock \
		-o requirements-dev.lock

clean:
	rm -rf $(VENV) .state .pytest_cache .mypy_cache .ruff_cache .hypothesis test-output
