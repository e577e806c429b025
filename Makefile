# `make demo`, `make test` and `make docs` each make a virtual environment, install lscfg and run. `make test-all` adds the
# slow tests: compilers, installation, browser, documentation, hosts, cluster. For work on the kernel: `make sanitize`,
# `make valgrind`, `make fuzz`; for work on commands and readers: `make attack`; for changes of dependencies: `make lock`.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Tests that run at the same time.
JOBS ?= auto
# pytest keeps the assertions that it rewrites: 15 s of each later run.
export PYTHONDONTWRITEBYTECODE =
DIST = build/dist
SANITIZED = build/sanitized

.PHONY: demo test test-slow test-all lint types docs lock sbom sanitize valgrind fuzz attack clean

demo: $(VENV)/demo.done
	$(BIN)/lscfg demo -o demo

# Quick tests: without compilers, network and other programs.
test: lint
	$(BIN)/pytest -n $(JOBS) --dist worksteal

# The others, with the kernel that `make sanitize` compiles and the wheel that is installed.
test-slow: $(VENV)/test.done $(SANITIZED)/done
	LSCFG_WHEEL="$$(echo "$(CURDIR)"/$(DIST)/*.whl)" $(BIN)/pytest -n $(JOBS) --dist loadfile -m 'slow and not nightly'

test-all: test test-slow

lint: $(VENV)/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) types

# See [tool.mypy] of pyproject.toml.
types: $(VENV)/test.done
	rm -rf build/types && mkdir -p build/types
	$(BIN)/python -W ignore setup.py --quiet egg_info --egg-base build build_py --build-lib build/types
	$(BIN)/python -P -m mypy

# The pages of docs/ and of the root as a site, with the reference of the Python packages.
docs: $(VENV)/test.done
	$(BIN)/python -P -m sphinx -q -W --keep-going -c docs . build/docs
	@echo build/docs/index.html

# Not an editable install: what is tested is what a user gets. The sources decide when it is made again.
SOURCES = $(shell find plugin lscfg tuning cdec_bridge moses_bridge -type f ! -path "*/__pycache__/*" ! -name "*.so") \
  pyproject.toml setup.py

# setup.py refuses an older Python too; this saves the time until pip calls it.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("lscfg needs Python 3.11 or newer; $(PYTHON) is Python %d.%d.%d: make demo PYTHON=python3.12" \
	% sys.version_info[:3] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV) || { rm -f $@; exit 1; }

$(VENV)/demo.done: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet '.[train,serve,quick]'
	touch $@

# A source archive and the wheel made from it: test_install.py looks at this wheel. All packages that are downloaded are
# those of requirements/, and pip compares their hashes; hence no isolated builds, for which pip would take any version.
LOCKED = $(BIN)/python -m pip install --quiet --require-hashes
$(VENV)/test.done: $(VENV)/bin/python $(SOURCES) requirements/build.txt requirements/test.txt
	rm -rf $(DIST)
	$(LOCKED) -r requirements/build.txt
	$(LOCKED) --no-build-isolation -r requirements/test.txt
	PYTHONWARNINGS=ignore $(BIN)/python -m build --no-isolation --outdir $(DIST) . >/dev/null
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps $(DIST)/*.whl
	$(BIN)/python -m pip check
	touch $@ $(VENV)/demo.done

# Versions and hashes for all systems and Pythons, written again after a change of dependencies in pyproject.toml; versions
# that still fit stay as they are. UPGRADE=--upgrade takes the newest ones.
LOCK = build/release/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(UPGRADE) \
  --custom-compile-command 'make lock'
lock: build/release/done
	$(LOCK) --group build -o requirements/build.txt
	$(LOCK) pyproject.toml --extra test -c requirements/build.txt -o requirements/test.txt
	$(LOCK) pyproject.toml --extra train --extra serve -c requirements/test.txt -o requirements/serve.txt
	$(LOCK) --group release -c requirements/test.txt -o requirements/release.txt

# The packages of an installation of lscfg[train,serve], with licences and dependencies, as CycloneDX.
SHIPPED = build/shipped
sbom: build/release/done
	rm -rf $(SHIPPED) && $(PYTHON) -m venv --without-pip $(SHIPPED)
	build/release/bin/python -m pip wheel --quiet --require-hashes --no-build-isolation -r requirements/serve.txt -w $(SHIPPED)/wheels
	build/release/bin/python -m pip wheel --quiet --no-deps --no-build-isolation -w $(SHIPPED)/wheels .
	build/release/bin/python -m pip --python $(SHIPPED)/bin/python install --quiet --no-index --no-deps $(SHIPPED)/wheels/*.whl
	build/release/bin/cyclonedx-py environment $(SHIPPED)/bin/python --pyproject pyproject.toml --mc-type library \
	--output-reproducible --output-format JSON --output-file build/lscfg.cdx.json
	@echo build/lscfg.cdx.json

build/release/done: requirements/build.txt requirements/release.txt
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --require-hashes -r requirements/build.txt
	build/release/bin/python -m pip install --quiet --require-hashes -r requirements/release.txt
	touch $@

# The tests marked `kernel` with the sanitizers of gcc in the extension, which is found before the installed one. The
# libraries must be loaded first, and libstdc++ with them, since they ask it how exceptions are thrown. Python itself leaks,
# and so does Moses, whose registry keeps the factories of features until the process ends.
SANITIZER_LIBRARIES = $(foreach name,libasan.so libubsan.so libstdc++.so,$(shell gcc -print-file-name=$(name)))
IN_SANITIZED = PYTHONPATH="$(CURDIR)/$(SANITIZED)/lib" LD_PRELOAD="$(SANITIZER_LIBRARIES)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1

sanitize: $(SANITIZED)/done
	$(IN_SANITIZED) $(BIN)/python -P -c "import lscfg._kernel as k; assert '$(SANITIZED)' in k.__file__, k.__file__"
	$(IN_SANITIZED) $(BIN)/pytest --capture=sys -n $(JOBS) --dist worksteal -m kernel
	ASAN_OPTIONS=detect_leaks=0 STUB_FLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
	$(BIN)/pytest -n $(JOBS) --dist loadfile -m compiles tests/cdec_bridge/test_cdec_stubs.py tests/moses_bridge/test_moses_stubs.py

# gcc contracts a * b + c, which the fast loops of the kernel ask for, as an expensive optimisation only.
$(SANITIZED)/done: $(VENV)/test.done
	mkdir -p $(SANITIZED)
	CC=gcc CFLAGS="-O1 -fexpensive-optimizations -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" $(BIN)/python setup.py --quiet \
	egg_info --egg-base $(SANITIZED) build --build-base $(SANITIZED)/objects --build-lib $(SANITIZED)/lib
	touch $@

valgrind: $(VENV)/test.done
	valgrind --version
	$(BIN)/pytest tests/kernel/test_c_interface.py -m compiles -k valgrind

# Bad and damaged files for every command, SECONDS of them, others each day; SANITIZED_KERNEL=1: with the sanitizers.
attack: $(VENV)/test.done $(if $(SANITIZED_KERNEL),$(SANITIZED)/done)
	$(if $(SANITIZED_KERNEL),$(IN_SANITIZED)) $(BIN)/python tests/attack/attack.py --seconds $(SECONDS)

# Looks for inputs that break the kernel, SECONDS with each harness. One that is found belongs into tests/fuzz/corpus.
SECONDS = 60
HARNESSES = $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
KERNEL = $(shell $(PYTHON) -c 'import json; print(*json.load(open("plugin/include/kernel.json"))["$(1)"])')
FUZZED = $(patsubst %.c,build/fuzz/%.o,$(wildcard $(patsubst %,plugin/%/*.c,$(call KERNEL,layers))) tests/fuzz/fuzz.c)
FUZZ = clang $(call KERNEL,flags) -g -O2 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
  -Iplugin -Iplugin/include

fuzz: $(HARNESSES:%=fuzz-%)
.SECONDARY: $(FUZZED)

fuzz-%: tests/fuzz/fuzz_%.c $(FUZZED)
	mkdir -p build/fuzz/found/$*
	$(FUZZ) $^ -lm -o build/fuzz/$*
	build/fuzz/$* -max_total_time=$(SECONDS) -timeout=10 -max_len=4096 -artifact_prefix=build/fuzz/$*- \
	build/fuzz/found/$* tests/fuzz/corpus/$*

build/fuzz/%.o: %.c $(wildcard plugin/*/*.h plugin/include/*/*.h tests/fuzz/*.h)
	@command -v clang >/dev/null || { echo "make fuzz needs clang with libFuzzer: install clang (Debian: apt install clang)"; exit 1; }
	@mkdir -p $(@D)
	$(FUZZ) -c $< -o $@

clean:
	rm -rf $(VENV) build *.egg-info demo
