# `make demo` and `make test` need a Debian or Ubuntu with Python >= 3.11 and make; the rest they get themselves.
# The work is done by the scripts in deploy/setup/; PYTHON chooses the interpreter.

.PHONY: demo test test-exhaustive check tests exhaustive-tests quick-tests docs reference lint screenshots bench up down clean setup requirements help
.DEFAULT_GOAL := help

# Hundreds of processes import the same modules: none is to compile them again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv/bin
# Files of tests run side by side, each whole in one process, three times as many of them as CI has processors: many tests
# wait, and four processes leave two processors idle for nearly half of the time. Each process imports all files, which
# takes it ten seconds. The slow files come first (tests/support/session.py).
SIDE_BY_SIDE := -n 6 --dist loadfile --no-loadscope-reorder

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## make this machine ready to run agents
	@deploy/setup/setup.sh demo

demo: setup ## play 10 bugs with three entrants and show the leaderboard
	@$(VENV)/stackrank run deploy/examples/demo.yaml
	@echo "(The command is $(VENV)/stackrank. After \`source $(VENV)/activate\` you can type just \`stackrank\`.)"

test: ## set up everything the tests use, lint, run the tests
	@deploy/setup/setup.sh test
	@$(MAKE) --no-print-directory -j 2 lint tests

test-exhaustive: ## run the further cases: every cheat, Docker for everything, clusters, lost machines, all pages
	@deploy/setup/setup.sh exhaustive
	@$(MAKE) --no-print-directory exhaustive-tests

check: ## what takes two minutes: lint, types, and the tests that start no engine, browser or server
	@deploy/setup/python.sh dev
	@$(MAKE) --no-print-directory -j 2 lint quick-tests

# Threads of numerical libraries spin while they wait, on processors that other processes of tests need.
tests exhaustive-tests quick-tests: export OMP_NUM_THREADS := 1

tests:
	$(VENV)/python -m tests.support.suite -p tests.support.covered $(SIDE_BY_SIDE) -m "not exhaustive" $(PYTEST_ARGS)

exhaustive-tests:
	$(VENV)/python -m tests.support.suite $(SIDE_BY_SIDE) -m exhaustive $(PYTEST_ARGS)

quick-tests:
	$(VENV)/python -m pytest -q -n 3 --dist worksteal -m "not slow and not exhaustive" $(PYTEST_ARGS)

lint: ## ruff, mypy and shellcheck
	@deploy/setup/python.sh dev
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy -p stackrank
	$(VENV)/shellcheck -x -P deploy/setup deploy/setup/*.sh deploy/sandbox/*.sh deploy/images/*.sh deploy/compose/*.sh .ci/run

screenshots: ## pictures of every page of the dashboard in build/screenshots: four sets of data, light and dark, four sizes
	@deploy/setup/setup.sh test
	$(VENV)/python -m tests.dashboard.screenshots build/screenshots $(SCREENSHOTS_ARGS)

bench: ## measure speed (tests/bench)
	@deploy/setup/setup.sh test
	$(VENV)/python -m tests.bench
	$(VENV)/python -m tests.bench.bench_cost
	$(VENV)/python -m tests.bench.bench_scoring
	$(VENV)/python -m tests.bench.bench_dashboard
	$(VENV)/python -m tests.bench.bench_storage
	$(VENV)/python -m tests.bench.bench_commands
	$(VENV)/python -m tests.bench.bench_training
	$(VENV)/python -m tests.bench.bench_export

docs: reference ## build the documentation as a site in build/site
	NO_MKDOCS_2_WARNING=1 $(VENV)/mkdocs build --strict --quiet
	@echo "build/site/index.html (with search: python3 -m http.server -d build/site)"

reference: ## write the pages of the reference that come from the program
	@deploy/setup/python.sh dev
	$(VENV)/python docs/generate.py

up: setup ## start the Prefect server, a worker and the dashboard in the background
	@$(VENV)/stackrank up

down: ## end what `make up` started
	@if [ -x $(VENV)/stackrank ]; then $(VENV)/stackrank down; fi

requirements: ## pin the dependencies anew; UPGRADE=1 for newer versions
	@if [ ! -x $(VENV)/uv ]; then deploy/setup/python.sh dev; fi
	@deploy/setup/requirements.sh $(if $(UPGRADE),--upgrade)

clean: ## remove the virtual environment and what tools left; no data
	rm -rf .venv build dist *.egg-info .pytest_cache .suite_cache .mypy_cache .ruff_cache
