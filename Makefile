# One command for each thing a visitor wants. `make test` is what .ci/run runs.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

export FEWEST_DATA ?= $(abspath $(CURDIR)/../shared/data)
CARGO := $(shell command -v cargo 2>/dev/null || ls "$$HOME/.cargo/bin/cargo" 2>/dev/null)
BENCH_PYTHON ?= .venv/bin/python
FUZZ_SECONDS ?= 600
PROOF_CASES ?= 100000
PROFILE ?= dev
DEMO_FEATURES := --no-default-features --features highs
# What lints, documentation and tests of Rust check: `make lint PACKAGES="-p fewest-data"`.
PACKAGES ?= --workspace
PREFIX ?= $(HOME)/.local

.PHONY: help demo install limits limits-python wheel sdist package source test test-rust test-python test-data python-build python-test python-types python-pytest python-docs browser page page-test verified check fmt-check circles size guide lint lint-features docs tools peers bench bench-python fuzz fuzz-limits fuzz-proof need-cargo
.PHONY: r-test transcript transcript-check pages words changes versions workflows crates spelling python-lint signatures api api-write deny msrv coverage gates
.PHONY: bench-objectives bench-train bench-rfe bench-read bench-forms bench-memory
.PHONY: papers
.PHONY: bench-sklearn bench-exact bench-exact-build bench-exact-scip bench-exact-el0ps bench-exact-frontier bench-exact-real bench-kta bench-weight-bound

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

need-cargo:
	@if [ -z "$(CARGO)" ]; then \
	  echo "cargo is missing. Install Rust with rustup:"; \
	  echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . \"\$$HOME/.cargo/env\""; \
	  exit 1; fi

# HiGHS comes as a shared library in .venv, and .cargo/config.toml (not in git) tells cargo where it
# is, so that plain cargo commands work from then on as well.
tools: .venv/tools.done ## the library of HiGHS into .venv: a wheel of PyPI, or built from source where there is none
.venv/tools.done: .ci/tools.txt .ci/tools
	@PATH="$(dir $(CARGO)):$$PATH" .ci/tools .venv
	@touch $@

# Of the profile `demo`, without parquet, HDF5 and the programs of papers: takes less time to build than a
# release, and up to twice its time to run.
# Crates come down while the library of HiGHS does; where they cannot, the build says why.
demo: need-cargo ## builds the command (two minutes the first time), then a study of a real data set, the best five features with a proof, and its check
	@$(CARGO) fetch --locked --quiet --target "$$($(CARGO) -vV | sed -n 's/^host: //p')" 2>/dev/null & $(MAKE) --no-print-directory tools; wait
	$(CARGO) build --profile demo --locked -p fewest-cli $(DEMO_FEATURES)
	@.ci/transcript --show README.md target/demo/fewest

# The library goes along: what is installed runs without this folder.
install: need-cargo tools ## the command, its manual pages and completions, into PREFIX (~/.local)
	$(CARGO) install --path crates/fewest-cli --locked --root "$(PREFIX)"
	.ci/install "$(PREFIX)"

# HiGHS is compiled into all three: some minutes. docs/releasing.md says what they hold.
.venv/wheel.done: .ci/wheel.txt
	@if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r .ci/wheel.txt
	@touch $@
wheel: need-cargo .venv/wheel.done ## the Python package with the command as a file for other machines (target/wheels), tried in a clean environment
	PATH="$(dir $(CARGO)):$$PATH" .ci/wheel .venv
	.ci/wheel-check
sdist: need-cargo .venv/wheel.done ## the source distribution of the Python package (target/sdist), and a wheel made of it alone
	PATH="$(dir $(CARGO)):$$PATH" .ci/sdist .venv
package: need-cargo .venv/wheel.done ## the command as one static file for any Linux, in an archive and as a package for Debian (target/packages)
	PATH="$(dir $(CARGO)):$$PATH" .ci/package .venv
# Written by git, so that it holds what is committed, and its checksum is ours.
source: ## the source of the current commit as one archive, which the recipes of packaging/ build from (target/source)
	@mkdir -p target/source; version="$$(.ci/versions | sed -n 's/^version \([^ ]*\) .*/\1/p')"; \
	git archive --format=tar --prefix="fewest-$$version/" HEAD | gzip -9n > "target/source/fewest-$$version-source.tar.gz"; ls -l target/source

# All parts run, whichever fails. The folder of shared data is hidden from all but the last, so that
# nothing depends on it but what says so: the tests that were skipped for lack of it run in the last.
test: ## everything CI runs: format, lints, documentation, all tests, those of the Python package too
	@failed=0; export BUILD_COMMAND="$(TESTED)" BUILD_MODULE="$(TESTED)"; \
	$(MAKE) --keep-going --no-print-directory FEWEST_DATA=$(NO_DATA) check test-rust transcript-check test-python r-test || failed=1; \
	$(MAKE) --no-print-directory test-data || failed=1; exit $$failed

# What cargo builds where the command or the module is needed. Features of crates depend on what is built together: where the tests were
# built before, the command and the module that came with them, so that nothing is compiled twice.
BUILD_COMMAND ?= -p fewest-cli
BUILD_MODULE ?= --workspace --lib
TESTED := --workspace --lib --bins --tests --examples

NO_DATA := /nowhere
SKIPPED := $(CURDIR)/target/skipped-tests
TEST_ENVIRONMENT = browser="$$(.ci/browser)"; export FEWEST_BROWSER="$$browser" FEWEST_PEERS_PYTHON=$(CURDIR)/.venv/bin/python

test-rust: need-cargo tools peers
	@mkdir -p target; rm -f $(SKIPPED)
	$(TEST_ENVIRONMENT) FEWEST_SKIPPED=$(SKIPPED); \
	if $(CARGO) nextest --version >/dev/null 2>&1; then \
	  $(CARGO) nextest run --workspace --locked && $(CARGO) test --workspace --locked --doc; \
	else $(CARGO) test --workspace --locked; fi

test-python: python-build .venv/docs.done
	@failed=0; $(MAKE) --keep-going --no-print-directory -j2 python-docs python-types || failed=1; \
	$(MAKE) --no-print-directory python-pytest || failed=1; exit $$failed

transcript: need-cargo tools ## runs the sessions that pages show, and writes what they print today
	$(CARGO) build --release --locked -p fewest-cli
	.ci/transcript --write target/release/fewest

transcript-check: need-cargo tools
	$(CARGO) build --locked $(BUILD_COMMAND)
	.ci/transcript target/debug/fewest

r-test: need-cargo tools ## the R package: R CMD check with its tests and vignette; R comes from Debian where it may be installed
	$(CARGO) build --locked $(BUILD_COMMAND)
	.ci/r-test target/debug/fewest

test-data: python-build ## the tests that `make test-rust` skipped for lack of the shared data, those of Python, and the examples, with the folder
	@if [ ! -d "$(FEWEST_DATA)" ]; then \
	  echo "SKIPPED tests of shared data: there is no folder $(FEWEST_DATA); FEWEST_DATA names it"; exit 0; fi; \
	set -x; $(TEST_ENVIRONMENT); names="$$(sort -u $(SKIPPED) 2>/dev/null || true)"; failed=0; \
	if [ -n "$$names" ]; then \
	  if $(CARGO) nextest --version >/dev/null 2>&1; then \
	    $(CARGO) nextest run --workspace --locked -E "$$(sed 's/.*/test(=&)/' <<<"$$names" | paste -sd'|')" || failed=1; \
	  else $(CARGO) test --workspace --locked -- --exact $$names || failed=1; fi; fi; \
	cd python; export PYTHONPATH=.; ../.venv/bin/python -m pytest -n auto -m data tests || failed=1; \
	for example in $$(grep -l FEWEST_DATA examples/*.py); do MPLBACKEND=Agg ../.venv/bin/python $$example >/dev/null || failed=1; done; \
	exit $$failed

# The module as cargo builds it for tests, so that nothing is compiled twice (or with
# PROFILE=release); `pip install ./python` makes the optimised wheel.
python-build: need-cargo tools .venv/python.done
	$(CARGO) build $(BUILD_MODULE) --locked --profile $(PROFILE)
	install -s -m 755 target/$(PROFILE:dev=debug)/lib_core.so python/fewest/_core.abi3.so

python-test: python-lint python-types python-pytest ## the Python package: lints, types, type stubs, tests, doctests

# On one core, beside the site in `make test`.
python-types: python-build
	cd python && ../.venv/bin/python -m mypy fewest
	cd python && PYTHONPATH=. ../.venv/bin/python -m mypy.stubtest fewest --mypy-config-file pyproject.toml --allowlist tests/stubtest-allowlist.txt

python-pytest: python-build
	cd python && PYTHONPATH=. SCIPY_ARRAY_API=1 ../.venv/bin/python -m pytest -n auto --doctest-modules fewest tests

# Half a minute for the gallery and one for the browser, which opens every page as a phone does.
python-docs: python-build peers .venv/docs.done ## the site, warnings denied, opened in a browser: python/docs/_build/html
	cd python && PYTHONPATH=. ../.venv/bin/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	browser="$$(.ci/browser)"; cd python && FEWEST_BROWSER="$$browser" PYTHONPATH=. ../.venv/bin/python -m pytest -q tests/test_site.py

.venv/docs.done: python/docs/requirements.txt
	@if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/docs/requirements.txt
	@touch $@

.venv/python.done: python/tests/requirements.txt
	@if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/tests/requirements.txt
	@touch $@

# The reports of real runs in Debian's Chromium, alone and with what it saw: two minutes on one core
# that others used too (25 s of them the runs, 90 s the browser); screenshots stay in
# target/screenshots.
browser: need-cargo tools peers ## the report pages of real runs in a browser (part of `make test`), with screenshots
	browser="$$(.ci/browser)"; \
	FEWEST_BROWSER="$$browser" FEWEST_SCREENSHOTS=$(CURDIR)/target/screenshots FEWEST_PEERS_PYTHON=$(CURDIR)/.venv/bin/python \
	  $(CARGO) test --locked -p fewest-cli --test report_browser -- --nocapture

# The checker, and the whole command, compiled to WebAssembly, by the target of Rust that has files, times and arguments; vector instructions
# are those of browsers since 2023.
PAGE_TARGET := wasm32-wasip1
PAGES := target/page
page: need-cargo ## the pages that check proofs and that select, from the disk and without a network: target/page/verify.html, fewest.html
	@there() { [ -d "$$(PATH="$(dir $(CARGO)):$$PATH" rustc --print sysroot)/lib/rustlib/$(PAGE_TARGET)" ]; }; \
	there || PATH="$(dir $(CARGO)):$$PATH" rustup target add $(PAGE_TARGET) || true; \
	there || { echo "Rust for $(PAGE_TARGET) is missing. Install it with rustup: rustup target add $(PAGE_TARGET)"; exit 1; }
	RUSTFLAGS="-C target-feature=+simd128" $(CARGO) build --locked -p fewest-page --target $(PAGE_TARGET) --profile page
	.ci/page target/$(PAGE_TARGET)/page/verify-page.wasm $(PAGES)/verify.html
	.ci/page target/$(PAGE_TARGET)/page/fewest-page.wasm $(PAGES)/fewest.html

# The shared data are real cases where they are; `python3 bench/page.py --write` also times a table of 60 MB.
page-test: page tools peers ## the pages in a browser, from the disk: what they say of proofs, and what they select, is what the command says and selects
	$(CARGO) build --locked $(BUILD_COMMAND)
	browser="$$(.ci/browser)"; if [ -n "$$browser" ]; then export FEWEST_BROWSER="$$browser"; \
	  .venv/bin/python bench/page.py --fewest target/debug/fewest --page $(PAGES)/verify.html --cases 60 --small && \
	  .venv/bin/python bench/select_page.py --fewest target/debug/fewest --page $(PAGES)/fewest.html --small; fi

# Not part of `make test`: Coq and OCaml are not everywhere. Where they are missing and cannot be installed it says so.
verified: need-cargo tools ## the checker proven in Coq (verified/): compiled, and beside the two others on random, forged and real proofs
	@core="$$(.ci/verified)"; if [ -n "$$core" ]; then \
	  $(CARGO) build --locked $(BUILD_COMMAND) && python3 bench/verified.py --fewest target/debug/fewest --core "$$core" --cases 60 --small; fi

check: fmt-check pages words changes versions workflows crates spelling python-lint signatures circles size lint docs api ## the fast part of `make test`

# Gates of a second each, cheapest first; CONTRIBUTING.md says what each holds. typos, ruff and
# jactionlint are binaries of PyPI.
.venv/checks.done: .ci/checks.txt
	@if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi
	@if .venv/bin/python -m pip install --quiet --disable-pip-version-check -r .ci/checks.txt; then touch $@; fi

pages: ## links and anchors of all pages lead somewhere, and every page of docs/ is in the site
	@python3 .ci/pages

words: ## no comment, message, help text or page has a word of .ci/words.txt, and doc comments begin with their noun
	@.ci/words

changes: ## each file of changes/ is one sentence, in its place
	@.ci/changes

signatures: ## python/fewest/_signatures.py is what the classes and the table of parameters say
	@.ci/signatures

versions: ## every file that names the version of this project names one
	@python3 .ci/versions

workflows: .venv/checks.done
	@if [ -x .venv/bin/jactionlint ]; then .venv/bin/jactionlint --profile correctness --shellcheck= --pyflakes= .github/workflows/*.yml && echo "workflows hold"; \
	else echo "SKIPPED check of the workflows: jactionlint is missing (pip install jactionlint)"; fi

crates: need-cargo ## licences, sources and needed Rust version of every crate linked in, that each is used, and that ours can be published
	@PATH="$(dir $(CARGO)):$$PATH" python3 .ci/crates

spelling: .venv/checks.done
	@if [ -x .venv/bin/typos ]; then .venv/bin/typos && echo "no misspelling"; \
	else echo "SKIPPED spelling: typos is missing (pip install typos)"; fi

python-lint: .venv/checks.done
	@if [ -x .venv/bin/ruff ]; then cd python && ../.venv/bin/ruff format --check fewest tests examples && ../.venv/bin/ruff check fewest tests examples; \
	else echo "SKIPPED lints of Python: ruff is missing (pip install ruff)"; fi

api: docs ## the public items of the crate are those of crates/fewest/api.txt
	@python3 .ci/api
api-write: docs ## writes crates/fewest/api.txt again, after a change to the public items
	@python3 .ci/api --write

# Not part of `make test`: what these need is not available everywhere.
deny: need-cargo ## cargo-deny where it is installed: advisories beside what `make crates` checks
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny --locked check; \
	else echo "SKIPPED cargo-deny: it is missing (cargo install --locked cargo-deny)"; fi

msrv: need-cargo tools ## builds with the oldest Rust that Cargo.toml promises, where rustup has it
	@oldest="$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)"; \
	if $(CARGO) "+$$oldest" --version >/dev/null 2>&1; then $(CARGO) "+$$oldest" check --workspace --locked --target-dir target/msrv; \
	else echo "SKIPPED build with Rust $$oldest: it is missing (rustup toolchain install $$oldest)"; fi

coverage: need-cargo tools peers python-build ## lines that tests reach, of Rust and of Python; fails below today's figures
	@PATH="$(dir $(CARGO)):$$PATH" .ci/coverage

fmt-check: need-cargo
	@if $(CARGO) fmt --version >/dev/null 2>&1; then $(CARGO) fmt --all --check; \
	else echo "SKIPPED format check: rustfmt is missing (rustup component add rustfmt)"; fi

gates: need-cargo tools docs .venv/checks.done .venv/python.done ## each gate passes in a scratch clone, and fails there once a fault is put in
	@PATH="$(dir $(CARGO)):$$PATH" python3 .ci/gates

size: ## no crate has grown without a sentence that says why (.ci/size.txt)
	@python3 .ci/size

circles: ## no file or folder imports another in a circle, and docs/design/imports.md says who imports whom
	@python3 .ci/circles

guide: need-cargo tools python-build ## adds the method of CONTRIBUTING.md in a scratch clone and runs it
	@python3 .ci/guide

lint: need-cargo tools
	@if $(CARGO) clippy --version >/dev/null 2>&1; then $(CARGO) clippy $(PACKAGES) --all-targets --locked -- -D warnings; \
	else echo "SKIPPED lints: clippy is missing (rustup component add clippy)"; fi

# Once a night, and before a release: it checks four crates a second time.
lint-features: need-cargo tools ## lints of the command without the features that `make demo` leaves out
	$(CARGO) clippy -p fewest-cli $(DEMO_FEATURES) --locked -- -D warnings

docs: need-cargo tools
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(PACKAGES) --no-deps --locked

# LIBLINEAR and LIBSVM read the models we write, and playwright drives the browser; the tests that
# check it use the Python in .venv.
peers: .venv/peers.done
.venv/peers.done: tests/requirements.txt
	@if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

bench-python:
	@if [ "$(BENCH_PYTHON)" = ".venv/bin/python" ]; then \
	  if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi; \
	  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt; fi

bench: bench-objectives bench-read bench-memory bench-train bench-rfe bench-exact bench-kta ## the main comparisons of bench/README.md (hours, mostly of the peers)

bench-objectives: need-cargo tools bench-python ## objectives and predictions against LIBSVM and LIBLINEAR
	$(BENCH_PYTHON) bench/objectives.py
bench-train: need-cargo tools bench-python ## training time against scikit-learn's SVC and LinearSVC
	$(BENCH_PYTHON) bench/train_time.py
bench-rfe: need-cargo tools bench-python ## SVM-RFE against scikit-learn's RFE
	$(BENCH_PYTHON) bench/rfe_time.py
bench-read: need-cargo tools bench-python ## reading svmlight against scikit-learn
	$(BENCH_PYTHON) bench/read_time.py
bench-memory: need-cargo tools bench-python ## peak memory of the RFE runs
	$(BENCH_PYTHON) bench/memory.py

bench-forms: need-cargo python-build ## every file of shared/data/forms by the command and by Python: what opens, what is refused
	$(CARGO) build --release --locked -p fewest-cli
	PYTHONPATH=python $(BENCH_PYTHON) bench/forms.py

bench-exact: bench-exact-real bench-exact-scip bench-exact-el0ps bench-exact-frontier ## the method `exact`: beside SCIP, beside El0ps, its frontier (many hours)

bench-exact-build: need-cargo tools bench-python
	$(CARGO) build --release --locked -p fewest-cli
bench-exact-scip: bench-exact-build ## exact against SCIP's MISOCP, side by side
	$(BENCH_PYTHON) bench/exact_scip.py --fresh
bench-exact-el0ps: bench-exact-build ## exact against El0ps, side by side
	$(BENCH_PYTHON) bench/exact_el0ps.py --fresh
bench-exact-frontier: bench-exact-build ## how far exact proves, over p, n, C and loss
	$(BENCH_PYTHON) bench/exact_frontier.py --again
bench-exact-real: bench-exact-build ## exact on wdbc (a path) and leukemia
	$(BENCH_PYTHON) bench/exact_real.py
bench-sklearn: python-build ## scikit-learn's own tests with our SVC, LinearSVC and SVMRFE in place of its own
	PYTHONPATH=python .venv/bin/python bench/sklearn_suite.py
bench-kta: bench-exact-build ## kta on the paper's data, beside plain enumeration, and on larger data
	$(CARGO) build --release --locked -p fewest-bench
	$(BENCH_PYTHON) bench/kta.py
bench-weight-bound: need-cargo tools bench-python ## rules and numbers for u of mbp, judged on held-out samples; goes on where it was stopped
	$(CARGO) build --release --locked -p fewest-cli
	$(BENCH_PYTHON) bench/weight_bound.py

papers: need-cargo tools bench-python ## the five papers: the runs that are missing (FRESH=1: all again, hours), then every table, and the numbers of the READMEs
	$(CARGO) build --release --locked -p fewest-cli
	for script in papers/*/run.py; do $(BENCH_PYTHON) $$script $(if $(FRESH),--fresh) || exit; done

# `make papers-tan2010`: its pages, from the stored rows. `make papers-tan2010 FRESH=1`: all its runs again, with
# the flags that the pages print, into papers/tan2010/.fresh; it says before how long they take.
papers-%: bench-python $(if $(FRESH),need-cargo tools)
	@$(if $(FRESH),$(CARGO) build --release --locked -p fewest-cli)
	@$(BENCH_PYTHON) papers/$*/run.py $(if $(FRESH),--fresh,--print)

fuzz-proof: need-cargo tools ## proofs against enumeration on PROOF_CASES hard small problems, on one core; goes on where it was stopped
	python3 bench/proof.py --cases $(PROOF_CASES)

limits: need-cargo tools bench-python ## every method on six shapes, and the other commands: seconds past the limit and after Ctrl-C, peak memory, none dies of an allocation
	$(CARGO) build --release --locked -p fewest-cli
	$(BENCH_PYTHON) bench/limits.py

fuzz-limits: need-cargo tools bench-python ## 1,000 random commands with time limits and Ctrl-C: an answer, a status, no lost file, no figure of parts that were cut
	$(CARGO) build --release --locked -p fewest-cli
	$(BENCH_PYTHON) bench/fuzz_limits.py --write

limits-python: ## every estimator of the Python package on three shapes: seconds past the limit and after Ctrl-C
	$(MAKE) python-build PROFILE=release
	PYTHONPATH=python $(BENCH_PYTHON) bench/limits_python.py --limit 1

fuzz: need-cargo tools ## every file that is read, random, damaged or of wrong parts: readers, models, results, rules, states, proofs; and random problems in other forms, by every method; FUZZ_SECONDS each
	$(CARGO) test --release --workspace --locked --test memory --test it --no-run
	FEWEST_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --release --locked -p fewest --test it -- metamorphic --nocapture --test-threads 1
	for reader in svmlight csv arff npz parquet csc h5ad h5 loom mtx tables; do \
	  FEWEST_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --release --workspace --locked --test memory -- fuzz::$$reader --nocapture; done
	for kind in models results rules states proofs; do \
	  FEWEST_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --release --workspace --locked --test it -- fuzz_files::$$kind --nocapture; done
