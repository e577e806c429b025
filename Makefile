# Two commands: `make demo` and `make test`. Each makes its own virtual environment, installs and runs.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test clean

demo: $(VENV)/demo.done
	$(BIN)/lscfg demo -o demo

test: $(VENV)/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

# Not an editable install: what is tested is what a user gets. The sources decide when it is made again.
SOURCES = $(shell find plugin lscfg tuning cdec_bridge moses_bridge -name '*.[ch]*' -o -name '*.py') pyproject.toml setup.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.done: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet .
	touch $@

$(VENV)/test.done: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet '.[test]'
	touch $@ $(VENV)/demo.done

clean:
	rm -rf $(VENV) build *.egg-info demo
