# Everything is built into bin/, tools go into .tools/; both can be deleted at any time.
VERSION       := 0.1.0
GOLANGCI_LINT := v2.15.0
GOFUMPT       := v0.12.0

SHELL   := /usr/bin/env bash
LDFLAGS := -s -w -X main.version=$(VERSION)
PLUGINS := clock preferences docs guard cache summary memory web-search azure-ai-search mem0
DOCS    := abi.md RATIONALE.md SECURITY.md CHANGELOG.md pdk-go.md $(PLUGINS:%=plugin-%.md)
MODULES := . pdk/go $(PLUGINS:%=plugins/%) conformance/guests/script conformance/guests/every examples/01-hello-provider/plugin bench/kernel

go-files   = $(shell find $(1) -name '*.go' -not -name '*_test.go' -not -path '*/testdata/*' 2>/dev/null)
GUEST_SRC := $(call go-files,pdk/go) pdk/go/go.mod
WEFT_SRC  := $(call go-files,abi cmd conformance host internal message) go.mod go.sum host/config/weft.schema.json abi/schema.json
GUEST     := GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags="-s -w" -trimpath

.DEFAULT_GOAL := help
.PHONY: help run build test check fmt fuzz bench bench-peers bench-engine bench-plugins golden clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## talk to an agent about this project's documentation (a pipe on standard input is answered line by line)
	@bin/weft run weft.yaml

build: bin/weft bin/guests/script.wasm $(PLUGINS:%=bin/plugins/%.wasm) $(DOCS:%=bin/docs/%) ## build the command line, the plugins and the scenario guest into bin/

test: build ## run everything, with the race detector; installs what tests need where it may
	@scripts/test $(MODULES)

check: .tools/golangci-lint-$(GOLANGCI_LINT) .tools/gofumpt-$(GOFUMPT) ## format, vet, lint and tidiness of all modules; changes nothing
	@LINT=$(CURDIR)/.tools/golangci-lint-$(GOLANGCI_LINT) FUMPT=$(CURDIR)/.tools/gofumpt-$(GOFUMPT) scripts/check $(MODULES)

fmt: .tools/gofumpt-$(GOFUMPT) ## format all Go code
	@.tools/gofumpt-$(GOFUMPT) -w $$(git ls-files -co --exclude-standard '*.go')

fuzz: ## run each fuzz target for FUZZTIME (default 30s)
	@scripts/fuzz $${FUZZTIME:-30s}

bench: ## measure runs and sessions of the agent core, and the size of the smallest program (bench/README.md)
	@go test ./host -run '^$$' -bench . -benchmem
	@mkdir -p bin && CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/smallest ./bench/smallest && \
		echo "smallest program with an agent and a provider: $$(wc -c < bin/smallest) bytes"

bench-peers: ## measure one run beside other frameworks, side by side; writes bench/results/core.json
	@cd bench/peers && go test ./... && go run . -rounds $${ROUNDS:-15} -out ../results/core.json

bench-engine: ## measure a plugin's call beside other ways to run one (some minutes); writes bench/results/engine.json, unless RUN or CASE choose a part
	@scripts/bench-guests && cd bench/engine && go test -count=1 ./... && \
		go run . -rounds $${ROUNDS:-15} -run "$$RUN" -case "$$CASE" -out "$$([ -n "$$RUN$$CASE" ] || echo ../results/engine.json)"

bench-plugins: ## measure runs with plugins beside providers in Go (some minutes); writes bench/results/plugins.json, unless RUN or CASE choose a part
	@scripts/bench-guests plugins-c plugins-rust && go test -count=1 ./bench/plugins && \
		go run ./bench/plugins -rounds $${ROUNDS:-15} -reload $${RELOAD:-1m} -run "$$RUN" -case "$$CASE" -out "$$([ -n "$$RUN$$CASE" ] || echo bench/results/plugins.json)"

golden: ## rewrite golden files from what the code does now; read the difference before you commit it
	@scripts/golden $(MODULES)

clean: ## delete what was built
	rm -rf bin .tools

bin/weft: $(WEFT_SRC)
	@echo "building $@" >&2
	@go build -trimpath -ldflags="$(LDFLAGS)" -o $@ ./cmd/weft

bin/guests/script.wasm: $(call go-files,conformance/guests/script) conformance/guests/script/go.mod $(GUEST_SRC)
	@echo "building $@" >&2
	@mkdir -p bin/guests && cd conformance/guests/script && $(GUEST) -o $(CURDIR)/$@ .

define plugin
bin/plugins/$(1).wasm: $(call go-files,plugins/$(1)) $(wildcard plugins/$(1)/*.json) plugins/$(1)/go.mod $(GUEST_SRC)
	@echo "building $$@" >&2
	@mkdir -p bin/plugins && cd plugins/$(1) && $(GUEST) -o $(CURDIR)/$$@ .
endef
$(foreach p,$(PLUGINS),$(eval $(call plugin,$(p))))

bin/docs/%.md: %.md
	@mkdir -p bin/docs && cp $< $@

bin/docs/pdk-go.md: pdk/go/README.md
	@mkdir -p bin/docs && cp $< $@

bin/docs/plugin-%.md: plugins/%/README.md
	@mkdir -p bin/docs && cp $< $@

# A tool's file carries its version, so that another version is another file.
.tools/golangci-lint-$(GOLANGCI_LINT):
	@echo "installing golangci-lint $(GOLANGCI_LINT) (some minutes, once)" >&2
	@GOBIN=$(CURDIR)/.tools go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	@mv .tools/golangci-lint $@

.tools/gofumpt-$(GOFUMPT):
	@GOBIN=$(CURDIR)/.tools go install mvdan.cc/gofumpt@$(GOFUMPT)
	@mv .tools/gofumpt $@
