# Every target creates what it needs in .venv, and does nothing twice.
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)

# Tests start hundreds of processes, which would compile the package again without byte code.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test thorough check lint types layers format museum site ray lock clean

demo: .venv/ready
	$(BIN)/judgekit run examples/support_assistant/suite.yaml --out runs/support_assistant

# One worker runs all tests of a file, which share fixtures; conftest.py puts the longest first.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test: .venv/ready-dev
	$(PYTEST) -m "not thorough"

# Further cases of what quicker tests show too: before a release.
thorough: .venv/ready-dev
	$(PYTEST) -m thorough

# Adds projects in the present format to tests/museum; see the README there.
museum: .venv/ready-dev
	$(BIN)/python -m tests.museum.build $$(git rev-parse --short=7 HEAD)

# Builds the site of the documentation in site/, without network; a warning is an error. The variable
# silences an advertisement.
site: .venv/ready-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

# Installs Ray, 200 MB; without it, its tests are skipped.
ray: .venv/ready-ray

check: .venv/ready-dev lint types layers test

lint: .venv/ready-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/ready-dev
	$(BIN)/mypy

layers: .venv/ready-dev
	$(BIN)/lint-imports

format: .venv/ready-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Pinned with hashes, so every machine installs the same files.
.venv/ready: pyproject.toml requirements/run.txt | .venv/bin/python
ifdef UV
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/run.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
else
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endif
	@touch $@

.venv/ready-dev: .venv/ready requirements/dev.txt
ifdef UV
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
endif
	@touch $@

.venv/ready-ray: .venv/ready-dev requirements/ray.txt
ifdef UV
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/ray.txt
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/ray.txt
endif
	@touch $@

.venv/ready-docs: .venv/ready-dev requirements/docs.txt
ifdef UV
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/docs.txt
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
endif
	@touch $@

.venv/bin/python:
ifdef UV
	$(UV) venv --quiet --python $(PYTHON) .venv
else
	$(PYTHON) -m venv .venv
endif

# Needs uv. Run it after a change of dependencies.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --group run -o requirements/run.txt pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --group dev --extra parquet -c requirements/run.txt -o requirements/dev.txt pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra ray -c requirements/dev.txt -o requirements/ray.txt pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --group docs -c requirements/dev.txt -o requirements/docs.txt

clean:
	rm -rf .venv .judgekit runs site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
