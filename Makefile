# Every target works on a fresh clone: it creates the environment on first use.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OPENAPI := tools/openapi
OPENAPI_LINTER := $(OPENAPI)/node_modules/.package-lock.json
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Write compiled modules even if the environment disables it: services then start much faster.
unexport PYTHONDONTWRITEBYTECODE
LOCK := uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes --no-annotate \
  --custom-compile-command "make lock"
COMPILE := $(LOCK) --no-emit-package sodafountain pyproject.toml

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY) ## create the environment in .venv (the other targets do so on first use)

$(READY): requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is required; $(PYTHON) is $$($(PYTHON) --version). Choose another: make PYTHON=python3.12 …"; exit 1; }
	@echo "Setting up $(VENV). This takes two or three minutes, once …"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e clients/python -e .
	@touch $@

$(OPENAPI_LINTER): $(OPENAPI)/package-lock.json
	@command -v npm >/dev/null || { echo "npm is required to lint docs/openapi.yaml: put Node.js 20.19 or newer on the PATH"; exit 1; }
	@npm ci --silent --prefix $(OPENAPI)
	@touch $@

clients/typescript/node_modules/.package-lock.json: clients/typescript/package-lock.json
	@command -v npm >/dev/null || { echo "npm is required for clients/typescript: put Node.js 20.19 or newer on the PATH"; exit 1; }
	@npm ci --silent --prefix clients/typescript
	@touch $@

.PHONY: serve
serve: $(READY) ## serve gRPC on 127.0.0.1:50051 and REST on :8080 (ARGS="--help" lists the settings)
	@exec $(BIN)/sodafountain serve --rest-port 8080 $(ARGS)

.PHONY: test
# Three processes on two cores, since some tests wait for timeouts.
test: $(READY) ## run the tests, except the long ones of make verify (ARGS="-k flip" selects some)
	@$(BIN)/pytest -n 3 --dist worksteal $(ARGS)

.PHONY: clients-test
clients-test: $(READY) ## build and install every client library, and run the conformance scenarios (ARGS="go" selects one)
	@GRPC_VERBOSITY=NONE $(BIN)/python -m clients.conformance $(ARGS)

.PHONY: verify
verify: $(READY) clients/typescript/node_modules/.package-lock.json ## run the long tests, such as repeated faults (ARGS="-k killed" selects some)
	@$(BIN)/pytest -m long $(ARGS)
	@npm --silent --prefix clients/typescript run lint
	@clients/go/tools/check.sh --thorough
	@go -C clients/go test -race ./...

.PHONY: fuzz
fuzz: $(READY) ## send a million hostile requests, in about ten minutes (ARGS="--requests 20000 --seed 7")
	@$(BIN)/python -m tests.hostile.fuzz $(ARGS)

.PHONY: image
image: ## build the container image (TAG=…, BASE=…, ARGS="--no-cache")
	@tools/image/build.sh $(ARGS)

.PHONY: image-scan
image-scan: ## check the packages of the built image for known vulnerabilities (ARGS="--offline")
	@$(PYTHON) tools/image/scan.py --install $(ARGS)

.PHONY: image-tested
image-tested: # build the image for image-test
	@base=$$(tools/image/base.sh) && BASE=$$base TAG=localhost/sodafountain:tested ENGINE=podman SCAN= tools/image/build.sh

.PHONY: image-test
image-test: $(READY) image-tested ## build the container image on Debian's Python and test it (ARGS="-k killed" selects some)
	@$(BIN)/pytest -m image tests/deploy $(ARGS)

.PHONY: alerts-test
alerts-test: $(READY) ## test the alerts and the dashboard with Prometheus, which must be on the PATH (ARGS="-k quiet" selects some)
	@$(BIN)/pytest -m prometheus tests/deploy/prometheus $(ARGS)

.PHONY: demo
demo: $(READY) ## play complete games through a service, narrate and verify them
	@$(BIN)/python -m clients.demo $(ARGS)

.PHONY: load
load: $(READY) ## play many games concurrently against a service, and write a report (ARGS="--host localhost:50051 --users 50 --run-time 5m")
	@$(BIN)/python -m clients.loadtest $(ARGS)

.PHONY: bench
bench: $(READY) ## measure CPU time per call, engine speed, memory and start-up time (ARGS="--quick")
	@$(BIN)/python -m tools.bench $(ARGS)

.PHONY: mutants
mutants: $(READY) ## break the code of each rule in turn, and check that its tests fail
	@$(BIN)/python -m tools.mutants $(ARGS)

.PHONY: lint
lint: $(READY) $(OPENAPI_LINTER) clients/typescript/node_modules/.package-lock.json ## check style, types, imports, prose, the contract and the generated code
	ruff check .
	ruff format --check .
	mypy
	lint-imports --no-cache
	git ls-files -z --cached --others --exclude-standard | xargs -0 codespell
	! git grep -nE "def test_\w{76,}" -- "*.py" # the name of a test has at most 80 characters
	buf lint
	buf format --diff --exit-code protos
	$(BIN)/python -m tools.contract check
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(OPENAPI)/node_modules/.bin/redocly lint \
	  --config $(OPENAPI)/redocly.yaml docs/openapi.yaml

.PHONY: format
format: $(READY) ## format everything
	ruff format .
	ruff check --fix-only .
	buf format -w protos

.PHONY: generate
generate: $(READY) clients/typescript/node_modules/.package-lock.json ## generate stubs and docs/openapi.yaml from protos/, unless a change breaks the contract
	@$(BIN)/python -m tools.contract generate

.PHONY: lock
lock: $(READY) ## lock the newest versions that pyproject.toml allows, with hashes
	$(COMPILE) --extra embedded --extra encryption --extra traces -o requirements/service.txt
	$(COMPILE) --extra embedded --extra encryption --extra gateway --extra traces --extra loadtest --extra dev -c requirements/service.txt -o requirements/dev.txt
	$(COMPILE) --extra encryption --extra traces -c requirements/service.txt -o requirements/image.txt
	printf '%s\n' cyclonedx-python-lib hatchling | $(LOCK) -c requirements/dev.txt -o requirements/build.txt -

.PHONY: clean
clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist $(OPENAPI)/node_modules clients/typescript/node_modules
