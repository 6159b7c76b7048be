# Needs Go and git, nothing else. "make help" lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := build

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 20s
BENCH    ?=

GOLANGCI_VERSION := v2.15.0
GOLANGCI_DIR     := $(CURDIR)/.tools/golangci-lint-$(GOLANGCI_VERSION)
GOLANGCI         := $(GOLANGCI_DIR)/golangci-lint

CROSS := windows/amd64 darwin/arm64 linux/arm64

.PHONY: build
build: ## build bin/oxpatch
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)" -o bin/oxpatch ./cmd/oxpatch

.PHONY: test
test: ## run all tests
	go test -timeout 30m ./...

# Random tests take fewer steps here: what they look for is found by make test, races by a few.
.PHONY: race
race: ## run all tests under the race detector, the long ones shortened (needs a C compiler)
	CGO_ENABLED=1 go test -race -short -timeout 30m ./...

.PHONY: lint
lint: vet golangci ## gofmt, go vet and golangci-lint

.PHONY: vet
vet:
	@unformatted=$$(find . -name '*.go' -not -path './.*' -not -path '*/testdata/*' -print0 | xargs -0 -r gofmt -l); \
	if [ -n "$$unformatted" ]; then printf 'not formatted (gofmt -w):\n%s\n' "$$unformatted"; exit 1; fi
	go vet ./...

# The linter is a tool, not a dependency: it lives in .tools and never enters go.mod. Where it can
# not be fetched, the other checks still count.
.PHONY: golangci
golangci:
	@if [ ! -x $(GOLANGCI) ]; then mkdir -p .tools; \
		echo "installing golangci-lint $(GOLANGCI_VERSION) into .tools (takes a minute or two)"; \
		GOBIN=$(GOLANGCI_DIR) GOFLAGS= CGO_ENABLED=0 go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) >$(GOLANGCI_DIR).log 2>&1 || tail -n 3 $(GOLANGCI_DIR).log; \
	fi
	@if [ -x $(GOLANGCI) ]; then $(GOLANGCI) run ./...; \
	else echo "golangci-lint $(GOLANGCI_VERSION) cannot be installed here: only gofmt and go vet were run"; fi

.PHONY: bench
bench: build ## run Go benchmarks, then time whole processes (OXPATCH_BENCH_PEER=program, BENCH="-n 9 -only regexp")
	go test -run '^$$' -bench . ./...
	go run ./bench $(BENCH)

MODE    ?= envelope
N       ?= 200
CONTEXT ?= 3
SCOPE   ?= 0
PERTURB ?= none
DRIFT   ?= none
REPLAY  ?=
REPO    ?= .
.PHONY: replay
replay: ## put real commits of REPO back as patches and count where they land (MODE=text|git, N, CONTEXT, DRIFT, SCOPE=1, PERTURB, REPLAY=flags)
	go run ./replay -mode $(MODE) -repo "$(REPO)" -n $(N) -context $(CONTEXT) -scope $(SCOPE) -perturb $(PERTURB) -drift $(DRIFT) $(REPLAY)

# A limit on shrinking keeps workers from spending the whole time on making new inputs smaller.
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20s, or a number of inputs such as 20000x) each
	@set -e; \
	for dir in $$(grep -rlE --include='*_test.go' --exclude-dir=.tools '^func Fuzz' . | xargs -r -n1 dirname | sort -u); do \
		for target in $$(cat $$dir/*_test.go | sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p'); do \
			echo "== $$dir $$target"; \
			go test $$dir -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x; \
		done; \
	done

.PHONY: cross
cross: ## build and vet for the other systems
	@set -e; for target in $(CROSS); do \
		echo "== $$target"; \
		export GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0; \
		go build -buildvcs=false ./...; go vet ./...; \
	done

.PHONY: demo
demo: build ## show what oxpatch does, in a throw-away folder
	PATH="$(CURDIR)/bin:$$PATH" scripts/demo.sh

.PHONY: clean
clean: ## remove what the other targets made
	rm -rf bin .tools coverage*

.PHONY: help
help: ## list the targets
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name text; do printf '  %-8s %s\n' "$$name" "$$text"; done
