# Everything a clean clone needs is Go; what else a target uses, it installs
# into bin/.

GOLANGCI_LINT_VERSION := v2.15.0
GOLANGCI_LINT := bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
GOVULNCHECK_VERSION := v1.9.0
# The race detector wants a C compiler; tests run without it where there is none. SQLite is C in Go's clothes, in which it
# finds nothing and loses nine tenths of its time.
RACE := $(if $(shell command -v gcc cc 2>/dev/null),-race -gcflags=modernc.org/...=-race=false)
FUZZTIME ?= 1m
E2E ?= -long
SERVERS ?= $(HOME)/.cache/pitot-servers

# All that is built here is static, and so built once, wherever the clone lies.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath $(GOFLAGS)
# Nobody debugs what is compiled for tests: an eighth of the time of compilers goes into what a debugger needs.
test e2e lint: export GOFLAGS := $(GOFLAGS) -gcflags=./...=-dwarf=false

.PHONY: build page test-page lint-page e2e screenshots test torture streams fleet servers lint vuln fmt demo bench bench-floor bench-peers fuzz release wheels site

build: page ## bin/pitot, static
	go build -buildvcs=auto -ldflags '-s -w' -o bin/pitot ./cmd/pitot
	@$(WITHOUT_PAGE)

# The page is built where there is a Node that can, and its packages can be had; elsewhere the binary
# has a placeholder.
NODE := $(shell node -e 'const [a, b] = process.versions.node.split("."); if (a > 20 || a == 20 && b >= 19) console.log("yes")' 2>/dev/null)
PAGE := internal/show/web/dist/index.html
PACKAGES := web/node_modules/.package-lock.json
# of a command of the page's packages, where they are
WITH_PACKAGES = @if [ -e $(PACKAGES) ]; then cd web && $(1); else echo 'skipped, without Node 20.19 and the packages of web/: $(1)' >&2; fi

# prints what a binary without the page lacks, and how to have it
WITHOUT_PAGE = [ -e $(PAGE) ] || echo 'note: pitot ui and HTML reports need the page, which is not in this binary: install Node 20.19 or newer, let npm reach its registry, and run make build again; or install a release, which has it (docs/install.md)' >&2

page: $(if $(NODE),$(PAGE)) ## the page that pitot ui serves, from web/

$(PAGE): $(PACKAGES) web/package.json web/index.html web/vite.config.ts $(shell find web/src -type f)
	$(call WITH_PACKAGES,npm run --silent build)

$(PACKAGES): web/package-lock.json
	cd web && npm ci --no-audit --no-fund --fetch-retries=1 --fetch-timeout=60000 || rm -rf node_modules
	@[ ! -e $@ ] || touch $@

test-page: $(if $(NODE),$(PACKAGES)) ## tests of the page's own logic
	$(call WITH_PACKAGES,npm run --silent test)

lint-page: $(if $(NODE),$(PACKAGES)) ## types and accessibility of the page's sources
	$(call WITH_PACKAGES,npm run --silent check)

e2e: page ## tests of the page in a browser, which is installed where that can be done
	PITOT_BROWSER="$$(scripts/browser.sh)" go test -tags e2e ./internal/test/e2e -count=1 -timeout 20m $(E2E)

screenshots: page ## the pictures of the README
	PITOT_BROWSER="$$(scripts/browser.sh)" go test -tags e2e ./internal/test/e2e -count=1 -run '^TestScreenshots$$' -screenshots $(CURDIR)/docs/images

# What starts goroutines, or guards what several of them use by more than doing it once, is tested under the race
# detector. The tests there that call race.Skip are skipped by it, and run without it.
RACED = $(if $(RACE),$(shell grep -rlE 'sync\.(Mutex|RWMutex|WaitGroup|Cond|Map|Pool)|"sync/atomic"|x/sync/errgroup|^[[:blank:]]+go ' internal --include='*.go' --exclude='*_test.go' --exclude-dir=torture | xargs -n 1 dirname | sort -u | sed 's|^|./|'))
PLAIN = $(filter-out $(RACED),$(shell go list ./... | sed 's|^[^/]*/[^/]*/[^/]*|.|'))
SKIPPING = $(filter $(RACED),$(shell grep -rlE 'race\.Skip\([tf]\)' internal --include='*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|'))
SKIPPED = $(shell grep -rhEB 1 'race\.Skip\([tf]\)' internal --include='*_test.go' | sed -nE 's/^func ((Test|Fuzz)[A-Za-z0-9_]*).*/\1/p' | paste -sd '|' -)

# Many tests wait for processes and for deadlines, so there is one package more at once than there are processors, and the
# longest begin first. Compilers collect their garbage less often: they end soon. A program with the race detector would rest
# for a second at its end.
AT_ONCE := -p $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1))) -toolexec 'env GOGC=400'
LONG := ./internal/test/torture ./internal/test/fleet
# the program, linked once for all tests that run it
test: export PITOT_TEST_PROGRAM := $(CURDIR)/bin/tested

test: test-page ## all tests, without vet: see lint
	go build -toolexec 'env GOGC=400' -ldflags '-s -w' -o $(PITOT_TEST_PROGRAM) ./cmd/pitot
	$(if $(RACED),GORACE='atexit_sleep_ms=100' CGO_ENABLED=1 go test -vet=off $(AT_ONCE) $(RACE) -parallel 4 -timeout 30m $(RACED),:); raced=$$?; \
	$(if $(SKIPPING),go test -vet=off $(AT_ONCE) -parallel 6 -timeout 30m -run '^($(SKIPPED))$$' $(SKIPPING),:); skipped=$$?; \
	go test -vet=off $(AT_ONCE) -timeout 30m $(LONG) $(filter-out $(LONG),$(PLAIN)) && exit $$((raced | skipped))

servers: ## real servers, routers and proxies, installed into SERVERS
	bench/servers/install.sh $(SERVERS)
	go test ./internal/test/servers -count=1 -v -timeout 30m -servers $(SERVERS)

torture: ## hostile servers, files, numbers and signals, each case alone
	go test ./internal/test/torture -count=1 -timeout 2h -long $(if $(SEED),-seed=$(SEED))

streams: ## the wordings of streams; with CLIENT, a file of vLLM's source, also by its client in PYTHON
	go test ./internal/test/streams -count=1 -v $(if $(CLIENT),-client=$(CLIENT) $(if $(PYTHON),-python=$(PYTHON)))

fleet: ## a fleet of processes: every fault, over both kinds of NATS server
	go test ./internal/test/fleet -count=1 -timeout 1h -parallel 6 -long

# Its memory is mostly garbage: it is collected less often, up to a limit.
lint: $(GOLANGCI_LINT) lint-page ## the linters of .golangci.yml, go vet among them
	GOGC=400 GOMEMLIMIT=4GiB $(GOLANGCI_LINT) run ./...

vuln: ## known vulnerabilities in what is called, where their database can be reached
	scripts/vuln.sh $(GOVULNCHECK_VERSION)

fmt: $(GOLANGCI_LINT) ## rewrite the code in its canonical form
	$(GOLANGCI_LINT) fmt ./...

demo: build ## the main job against the embedded engine
	bin/pitot bench --store bin/demo.db --report vllm,pitot --requests 400 --rate 40 --slo ttft=100ms,tpot=12ms
	rm -rf bin/demo-ab bin/demo-ab.db
	bin/pitot ab --quiet --store bin/demo-ab.db --folder bin/demo-ab --name demo --seed 3 --before profile:small-chat --after profile:small-chat,slower=3% -- sim -n 300 --rate 20
	@echo
	@echo 'To look at these runs in a browser:  bin/pitot ui --store bin/demo.db'
	@echo 'and at the experiment:               bin/pitot ui --store bin/demo-ab.db'
	@$(WITHOUT_PAGE)

bench: ## every Go benchmark
	go test -run '^$$' -bench . ./...

bench-floor: ## CPU per token beside that of the least client there can be
	bench/floor/run.sh $(ROUNDS)

bench-peers: ## accuracy and cost beside other tools, installed from PyPI
	bench/peers/run.sh

fuzz: ## every fuzz target, FUZZTIME each
	scripts/fuzz.sh $(FUZZTIME)

release: page ## all of a release in dist/: archives, wheels, packages, image
	packaging/release.sh

wheels: page ## the wheels of pitot-bench in dist/
	packaging/release.sh wheels

site: bin/site/bin/mkdocs ## docs/ as a site, in dist/site; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $< build --config-file packaging/site/mkdocs.yml

bin/site/bin/mkdocs: packaging/site/requirements.txt
	python3 -m venv bin/site
	bin/site/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# The version is in the name, so that another one is another file.
$(GOLANGCI_LINT):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@
