.DEFAULT_GOAL := help
PYTHON ?= python3
UV_VERSION := $(shell sed -n 's/.*"uv==\(.*\)",/\1/p' pyproject.toml)
VENV := .venv
RUN := $(VENV)/bin/
STACK ?= dev

.PHONY: help setup up down destroy test check format bench render

help: ## what there is
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

$(VENV)/.installed: pyproject.toml uv.lock
	@test -x $(RUN)uv || { $(PYTHON) -m venv $(VENV) && $(RUN)python -m pip install --quiet uv==$(UV_VERSION); }
	@$(RUN)uv sync --frozen --quiet
	@touch $@

setup: $(VENV)/.installed ## the Python environment in .venv, from uv.lock

up: setup ## the dev stack on the embedded cluster: tools, cluster, pulumi up, summary
	@$(RUN)platformctl up --stack $(STACK)

down: setup ## stops the embedded cluster, its data is kept
	@$(RUN)platformctl local down --name $(STACK)

destroy: setup ## pulumi destroy of the stack on the embedded cluster
	@$(RUN)platformctl destroy --stack $(STACK)

render: setup ## manifests of both stacks below .local/render, without cluster or login
	@for stack in dev prod; do $(RUN)platformctl render --stack $$stack --out .local/render/$$stack || exit 1; done

test: setup ## everything that tests the project here
	@$(RUN)pytest -n 2 --dist loadgroup --no-loadscope-reorder

check: setup ## lint, format, types, import contracts
	@$(RUN)platformctl check

format: setup ## rewrites formatting and import order
	@$(RUN)ruff check --fix --quiet . ; $(RUN)ruff format .

bench: setup ## the figures of docs/performance.md
	@$(RUN)python -m benchmarks
