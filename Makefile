# Everything a developer does. `make demo` and `make test` work on a fresh machine with Python 3.11+.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test slow lint bench extras docs clean

demo: $(STAMP)
	$(BIN)/evenhand demo --out runs/demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# All of it, and what takes minutes: a cluster that loses a node.
slow: $(STAMP) extras
	EVENHAND_SLOW=1 $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) extras
	$(BIN)/python -m bench

# What the tests of `inspect:` and of clusters need, and what the benchmark compares with; they do without where it is
# not there.
extras: $(STAMP)
	$(BIN)/python -m pip install --quiet --group inspect --group ray

docs: $(STAMP)
	$(BIN)/python docs/make_cli_page.py
	PYTHONPATH=tests $(BIN)/python docs/make_audit_example.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(STAMP): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --python-preference only-system --python $(PYTHON) --allow-existing $(VENV) && \
	  uv pip install --python $(BIN)/python --editable . --group dev ; \
	else \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Evenhand needs Python 3.11 or newer; name one with: make PYTHON=python3.12")' && \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' && \
	  $(BIN)/python -m pip install --quiet --editable . --group dev ; \
	fi
	@touch $(STAMP)
