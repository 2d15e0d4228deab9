# make demo: judge the packaged glass. make check: the quick checks. make test: every check. All set up .venv themselves.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# Bytecode is kept, whatever the environment says (images of containers forbid it): without it every worker and every process
# that a test starts compiles a thousand files first, some 30 seconds of make test. worksteal keeps the tests of a file,
# and with them their fixtures, on one worker.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo check test test-long coverage test-page test-core test-oldest package constraints fuzz mutants lint bench docs results picture picture-page clean

demo: $(VENV)/.core
	$(BIN)/transvariation demo --overwrite

# While you work: style, types, imports and the quick unit tests.
check: lint
	$(PYTEST) tests -m 'not slow and not long and not browser'

test: lint
	$(PYTEST)

# Whether error rates hold, by simulation over many data sets (the better part of an hour); make test runs short forms.
test-long: $(VENV)/.dev
	$(PYTEST) tests -m long

# The same tests, slower by half: which lines they pass through.
coverage: $(VENV)/.dev
	$(PYTEST) --cov --cov-report=term

# The local page in a real browser; its screenshots are left in build/screenshots. Without a browser, and without the right
# to install one, it says so and leaves the page untested.
CHROMIUM := { command -v chromium || command -v chromium-browser; }
test-page: $(VENV)/.page
	@$(CHROMIUM) > /dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium > /dev/null; } \
	  || true
	@if $(CHROMIUM) > /dev/null; then $(BIN)/python -m pytest -m browser tests/web_browser; \
	  else echo "NOT TESTED: the page needs Chromium; install it (Debian: apt-get install chromium) and try again" >&2; fi

# The table reader and model files against five thousand hostile files of each kind (some minutes); make test runs a few.
fuzz: $(VENV)/.dev
	$(BIN)/python -m pytest tests/tables/themes/test_fuzz.py --hypothesis-profile=fuzz
	$(BIN)/python -m pytest tests/test_model_archive.py -k Fuzz --hypothesis-profile=fuzz

# Change the code at random places, others with another SEED, and list the changes that no test notices (some forty minutes).
SEED := 0
mutants: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet "cosmic-ray>=8.3"
	$(BIN)/python packaging/mutants.py --seed $(SEED)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

# Build the wheel and the sdist, and try each in an environment of its own, outside the repository.
package: $(VENV)/.dev
	rm -rf dist build/package
	$(BIN)/python -m build --outdir dist .
	for file in dist/*; do \
	  rm -rf build/package && $(PYTHON) -m venv build/package && \
	  build/package/bin/python -m pip install --quiet "$$file[app]" && \
	  (cd build/package && bin/python ../../packaging/smoke_test.py) || exit 1; \
	done

UV := build/uv/bin/uv
$(UV):
	$(PYTHON) -m venv build/uv && build/uv/bin/python -m pip install --quiet uv

# The core alone: every test that needs no extra, in an environment of its own. The others are listed as skipped.
test-core:
	test -x build/core/bin/python || $(PYTHON) -m venv build/core
	build/core/bin/python -m pip install --quiet --editable '.[test-core]'
	build/core/bin/python -m pytest -n auto --doctest-ignore-import-errors

# The oldest versions of the dependencies that pyproject.toml admits (SPEC 0), in an environment of their own.
test-oldest: $(UV)
	test -d build/oldest || $(UV) venv --quiet --python $(PYTHON) build/oldest
	$(UV) pip install --quiet --python build/oldest --resolution lowest-direct --editable '.[all,test]'
	build/oldest/bin/python -m pytest -n auto -W default -p no:randomly tests -m 'not browser and not long'

# One set of versions for every Python and system; make test CONSTRAINTS=packaging/constraints.txt installs them.
constraints: $(UV)
	$(UV) pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade --no-header --no-annotate --quiet \
	  --output-file packaging/constraints.txt

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks
	$(BIN)/python docs/_ext/benchmarks_page.py

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# Both studies in full, as the manual shows them (some ten minutes on two cores).
STUDIES := docs/results
results: $(VENV)/.docs
	rm -rf build/glass build/simulation $(STUDIES)/glass $(STUDIES)/simulation
	$(BIN)/transvariation study glass --out build/glass --jobs 2
	$(BIN)/transvariation study simulation --out build/simulation --jobs 2
	for study in glass simulation; do \
	  mkdir -p $(STUDIES)/$$study && cp build/$$study/*.csv build/$$study/provenance.json build/$$study/figures/*.png $(STUDIES)/$$study/; \
	done
	gzip -9n $(STUDIES)/simulation/simulation.csv

# The figures of the README, the landing page and the how-to guides on calibration, and the flowchart of the classifiers.
picture: $(VENV)/.core
	$(BIN)/python docs/_figures/hero.py
	$(BIN)/python docs/_figures/which_classifier.py
	$(BIN)/python docs/_figures/calibration.py
	$(BIN)/python docs/_figures/promise.py

picture-page: test-page
	cp build/screenshots/page.png docs/_static/page.png
	$(BIN)/python docs/_figures/report.py

# One stamp per set of extras: a second call installs nothing while pyproject.toml stays as it is.
$(VENV)/.core: EXTRAS :=
$(VENV)/.dev: EXTRAS := [dev]
$(VENV)/.page: EXTRAS := [page]
$(VENV)/.bench: EXTRAS := [bench]
$(VENV)/.docs: EXTRAS := [docs]
$(VENV)/.%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(addprefix --constraint ,$(CONSTRAINTS)) --editable '.$(EXTRAS)'
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build docs/_generated docs/api docs/auto_examples .mypy_cache .pytest_cache .ruff_cache
