# make demo   set up what running needs and render the shipped sample into build/demo/
# make test   set up everything, then check style and types and run all tests
# make quick  a part of the tests, which takes a minute on two cores and catches most mistakes
# make lint   style and types only
# make conformance  which rows of the public register documents are proved by a test, into build/conformance.tsv
# make mutants  150 small faults, one by one: whether the tests of their rooms notice them (ROOM="inspect 3DS" for one)
# make fuzz   100,000 cases of each fuzzer (FUZZ=1000 for fewer); make test runs a hundredth of them
# make oracle all evaluators, tiers and thread counts on whole recordings of both consoles (ORACLE="FILE ..."; without,
#             the samples and all of POCKETGPU_RECORDINGS, which takes long)
# make bench  all benchmarks (BENCH="pixels draws" for some), into build/bench.json
# make page   the page of `pocketgpu view` and the widget of notebooks, by Node.js, into src/pocketgpu/{view,notebook}/page/
# make vsix   the extension for VS Code, by Node.js, into src/pocketgpu/editor/vsix/
# make wheel  the package with code compiled ahead of time for Linux on x86-64, and that page, into dist/
# make release  that and the sdist, checked as users install them, and the section in CHANGELOG.md (RELEASE=--dry-run
#             leaves that); uploads nothing
# make docs   the site, into build/docs/, with a check of its links and, where Chromium is, of what readers see
# make clean  remove what was built and cached; make distclean removes .venv as well
#
# PYTHON=python3.13 picks an interpreter for a .venv that does not exist yet.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test quick conformance mutants lint fuzz oracle bench page vsix wheel release docs clean distclean
.DEFAULT_GOAL := demo

demo: $(VENV)/.ready-run
	$(BIN)/pocketgpu cache make --seconds 13
	$(BIN)/pocketgpu demo --out build/demo

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

quick: $(VENV)/.ready-test
	$(BIN)/python -m pytest --quick -n 2

conformance: $(VENV)/.ready-test
	$(BIN)/python -m pytest tests/conformance -n 2 --rows-report build/conformance.tsv

mutants: $(VENV)/.ready-test
	$(BIN)/python tools/mutants.py run --room "$(ROOM)"

FUZZ ?= 100000
fuzz: $(VENV)/.ready-test
	$(BIN)/python tests/fuzz/registers.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/gsp.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/guest_calls.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/switch_calls.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/switch_messages.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/dap.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/gxlog.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/guests.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/guests_switch.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/captures.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/channel_logs.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/decode.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/lists.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/output.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/pushbuffers.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/raster.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/debugging.py --cases $$(( $(FUZZ) / 100 ))
	$(BIN)/python tests/fuzz/differences.py --cases $$(( $(FUZZ) / 100 ))
	$(BIN)/python tests/fuzz/draws_switch.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/quick_draws.py --cases $$(( $(FUZZ) / 10 ))
	$(BIN)/python tests/fuzz/recordings.py --cases $$(( $(FUZZ) / 10 ))
	$(BIN)/python tests/fuzz/sass.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/sass_arithmetic.py --cases $(FUZZ)
	$(BIN)/python tests/fuzz/sass_programs.py --cases $(FUZZ) --specialised $$(( $(FUZZ) / 100 )) --numpy $$(( $(FUZZ) / 1000 ))
	$(BIN)/python tests/fuzz/shader.py --cases $(FUZZ) --specialised $$(( $(FUZZ) / 100 ))
	$(BIN)/python tests/fuzz/vertices.py --cases $(FUZZ)

oracle: $(VENV)/.ready-run
	$(BIN)/python tools/oracle.py $(ORACLE)

bench: $(VENV)/.ready-run
	$(BIN)/python benchmarks $(BENCH)

lint: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/mypy

PAGE := src/pocketgpu/view/page/index.html
WIDGET := src/pocketgpu/notebook/page/widget.js
page: $(PAGE) $(WIDGET)

# One build makes both, the widget last.
$(WIDGET): $(PAGE)
	@test -f $@ && test ! $(PAGE) -nt $@ || (cd viewer && npm run --silent build)

$(PAGE): viewer/node_modules/.package-lock.json $(shell find viewer -path viewer/node_modules -prune -o -type f -print)
	@cd viewer && npm run --silent build

viewer/node_modules/.package-lock.json: viewer/package-lock.json
	@echo "installing what the page of the viewer is made of into viewer/node_modules"
	@cd viewer && npm ci --no-audit --no-fund --loglevel=error

VSIX := src/pocketgpu/editor/vsix/pocketgpu.vsix
vsix: $(VSIX)

$(VSIX): editors/vscode/node_modules/.package-lock.json \
         $(shell find editors/vscode -path editors/vscode/node_modules -prune -o -path editors/vscode/dist -prune -o -type f -print)
	@cd editors/vscode && npm run --silent package

# Scripts of packages are not run: nothing here needs them.
editors/vscode/node_modules/.package-lock.json: editors/vscode/package-lock.json
	@echo "installing what the extension for VS Code is made with into editors/vscode/node_modules"
	@cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

wheel: $(VENV)/.ready-test
	@if command -v npm > /dev/null; then $(MAKE) page vsix; else echo "no Node.js: the wheel has no page of the viewer and no extension"; fi
	$(BIN)/python tools/make_kernels.py
	$(BIN)/python -m hatchling build -t wheel
	$(BIN)/python tools/check_wheel.py

release: $(VENV)/.ready-test
	@$(BIN)/python tools/release.py $(RELEASE)

docs: $(VENV)/.ready-docs
	@if command -v npm > /dev/null; then $(MAKE) page; else echo "no Node.js: two notebooks of the site are not run"; fi
	$(BIN)/sphinx-build --fail-on-warning --keep-going -b html -d build/doctrees docs build/docs
	$(BIN)/python tools/check_site.py build/docs
	@if $(BIN)/python -c "import pytest" 2> /dev/null; \
	  then POCKETGPU_SITE=build/docs $(BIN)/python -m pytest -q tests/unit/test_ten_questions.py -k test_the_site; \
	  else echo "no pytest: whether the site answers ten questions is not tested"; fi

clean:
	rm -rf viewer/node_modules src/pocketgpu/view/page src/pocketgpu/notebook/page src/pocketgpu/data/kernels
	rm -rf editors/vscode/node_modules editors/vscode/dist src/pocketgpu/editor/vsix tests/editor/node_modules
	rm -rf build dist docs/reference/generated docs/gallery docs/way docs/figures.md .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests docs tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "pocketgpu needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "no venv module: on Debian and Ubuntu, apt install python3-venv"; exit 1; }

# The build tool stays out of .venv: pip builds in a place of its own, held to the locked versions by the constraint.
$(VENV)/.ready-run: requirements/run.txt requirements/build.txt pyproject.toml | $(BIN)/python
	@echo "installing what running needs into $(VENV)"
	@$(PIP) install -r requirements/run.txt
	@PIP_CONSTRAINT=requirements/build.txt $(PIP) install --no-deps --editable .
	@$(BIN)/python -m compileall -q src/pocketgpu  # as pip does; else each start may compile all modules
	@touch $@

$(VENV)/.ready-test: requirements/test.txt $(VENV)/.ready-run
	@echo "installing what the tests need into $(VENV)"
	@$(PIP) install -r requirements/test.txt
	@touch $@

$(VENV)/.ready-docs: requirements/docs.txt $(VENV)/.ready-run
	@echo "installing what the site needs into $(VENV)"
	@$(PIP) install -r requirements/docs.txt
	@touch $@
