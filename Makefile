# Builds, tests and runs Seatmap on a fresh Debian or Ubuntu with a Rust toolchain.
#
#   make demo    measure this machine, import matrices, place a stencil, seat a program; write demo/*.html
#   make test    the whole test suite
#   make papers  the published experiments: builds seatmap-papers, draws three of them, runs the papers' tests
#   make lab     quiet cells on emulated computers, killed at every step, and each verb on an emulated Arm computer (one
#                hour; needs qemu)
#   make lab-tested  every verb on every computer of the lab, into docs/src/tested.md, and four services on one of them,
#                into docs/src/services-lab.md (one hour; needs qemu)
#   make recipes the guide's recipes in a real Slurm, systemd and podman (half a minute; needs root and these programs)
#   make races   libspe2 and C programs under ThreadSanitizer (minutes; needs gcc with libtsan)
#   make lint    rustfmt, clippy and rustdoc, with warnings denied; checks that everything compiles for 64-bit Arm
#   make deny    licences, bans and sources of the crates; make advisories: their known vulnerabilities (needs cargo-deny)
#   make msrv    the oldest Rust that builds Seatmap (needs that toolchain)
#   make bench   Seatmap's own figures, kept under bench/runs/<date>-<machine>/
#   make figures the figures of real programs and clusters: bench's floor, costs, gains, bad cables (two hours)
#   make programs real programs under taskset and seatmap run (a quarter of an hour; needs Debian's servers)
#   make studies the published experiments again, into docs/papers/studies
#   make pictures  the pictures of the README and the guide, into docs/pictures
#   make docs    the guide with the gallery, and the API, under target/guide and target/doc (needs mdbook);
#                make docs-links: checks its links
#   make dist    static binaries and Debian packages for x86-64 and 64-bit Arm, under target/dist; make dist-check: lintian
#   make wheel   the Python package with the seatmap command, below target/wheels
#   make python  a Python below target/python with NumPy, SciPy and NetworkX; runs the package's tests in it
#   make install seatmap, its completions and its manual pages; below PREFIX if set
#   make install-papers   the same for seatmap-papers
#   make install-lib   libseatmap_place, _worker and _trace for C programs, and libspe2 with seatmap-cellcc
#   make fuzz    each importer for a minute (needs a nightly toolchain)

CARGO ?= cargo
RELEASE = $(or $(CARGO_TARGET_DIR),target)/release
SEATMAP = $(RELEASE)/seatmap
PAPERS = $(RELEASE)/seatmap-papers
# One build for all tests: the program can be killed at every step, and the simulator's tasks can be threads.
TEST_FEATURES = seatmap/faults,seatmap-sim/threads
BUILT = $${CARGO_TARGET_DIR:-target}/debug
# By default programs are installed for the user: in cargo's folder, completions in the user's shell folders.
ifdef PREFIX
ROOT = --root "$(PREFIX)"
BIN = $(PREFIX)/bin
SHARE ?= $(PREFIX)/share
MANUAL ?= $(PREFIX)/share/man
else
CARGO_HOME ?= $(HOME)/.cargo
BIN = $(CARGO_HOME)/bin
SHARE ?= $(or $(XDG_DATA_HOME),$(HOME)/.local/share)
MANUAL ?= $(CARGO_HOME)/share/man
endif
PREFIX ?= /usr/local

OLDEST_RUST = $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml)

.PHONY: papers build-papers wheel python deny advisories msrv docs-links dist-check demo test test-programs test-build test-all test-emulated lab lab-build lab-tested races recipes lint bench figures programs studies pictures docs fuzz build dist install install-papers install-lib clean programs-in-c

# Its own profile builds in a third of a release's time, and measures and searches as fast.
demo:
	$(CARGO) build --profile demo --locked --package seatmap
	./demo/run $(or $(CARGO_TARGET_DIR),target)/demo/seatmap

build:
	$(CARGO) build --release --locked --package seatmap

build-papers:
	$(CARGO) build --release --locked --package seatmap-papers

# The papers' tests make machines with seatmap.
papers: build-papers programs-in-c
	$(PAPERS) rank --on cell-ps3 --pattern ring:6:bidirectional --packet 1k --runs 3 --svg demo/keller.svg
	$(PAPERS) stats --on cell-qs20 --svg demo/cellstats.svg >demo/cellstats.txt
	$(PAPERS) channels curve --line 9 --on xeon-phi-5110p --svg demo/liu.svg
	@echo "demo/keller.svg: all mappings of a ring on a PlayStation 3, by their time"
	@echo "demo/cellstats.svg: what communicating costs on a dual Cell blade (demo/cellstats.txt in numbers)"
	@echo "demo/liu.svg: the distances of a Xeon Phi's cores from core 0, over a line with its directory at core 125"
	$(CARGO) build --locked --package seatmap
	$(CARGO) test --locked --package 'seatmap-papers*' --package seatmap-cell-sim --package seatmap-controller \
		--package seatmap-experiments --package seatmap-libspe2 --package seatmap-ninep --package seatmap-spe \
		--package 'seatmap-worker*'

# Downloads run in parallel with the compiler, and an emulated computer in parallel with the tests, which wait half of
# their time. Cells on this computer run alone, because they take a CPU away.
test:
	$(MAKE) -j2 --output-sync=target test-programs test-build
	$(MAKE) -j2 --output-sync=target test-all test-emulated
	./scripts/cells own $(BUILT)/seatmap

# Includes the packages for emulated computers: installing them later would change libraries of running programs.
test-programs:
	./scripts/browser
	./scripts/consumers
	./scripts/lab/programs

test-build:
	$(CARGO) test --workspace --locked --features $(TEST_FEATURES) --no-run

# The plus shows the tests' output at once, although the cells' output appears at their end. Most tests of the program
# wait for processes, so one more test than CPUs runs at a time. The shell closes make's pipe: make waits for the pipe's
# end, and a program left behind by a test would hold it open.
test-all:
	+exec 3>&- 4>&-; MAKEFLAGS= SEATMAP_EXAMPLES_BUILT=1 RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$(($$(nproc) + 1))} ./scripts/tests $(CARGO) --locked --features $(TEST_FEATURES)

test-emulated:
	./scripts/cells emulated $(BUILT)/seatmap

# A program that can be killed at every step is built separately from the installed one.
lab-build:
	$(CARGO) build --release --locked --package seatmap --package seatmap-papers --package seatmap-lab --features seatmap/faults --target-dir target/faults

lab: lab-build
	./scripts/lab/run target/faults/release/seatmap
	./scripts/lab/v9fs target/faults/release/seatmap
	./scripts/lab/numa target/faults/release/seatmap
	./scripts/lab/stacked target/faults/release/seatmap
	./scripts/lab/offline target/faults/release/seatmap
	./scripts/lab/quiet target/faults/release/seatmap
	./scripts/lab/remedies target/faults/release/seatmap
	./scripts/lab/services target/faults/release/seatmap
	./scripts/dist --binary aarch64
	./scripts/lab/arm target/faults/release/seatmap target/dist/seatmap-aarch64

# ARM is a folder with seatmap and seatmap-lab for Arm. Without it, the Arm computers are omitted.
lab-tested: lab-build
	./target/faults/release/seatmap-lab tested --seatmap target/faults/release/seatmap $(if $(ARM),--arm "$(ARM)") \
		--write docs/src/tested.md
	./scripts/lab/services target/faults/release/seatmap --write docs/src/services-lab.md

races:
	./scripts/thread-sanitizer

recipes: build
	./scripts/recipes $(SEATMAP)

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	./scripts/rustdoc $(CARGO)

# Each of these targets names the tool that it needs, and installs nothing.
deny:
	@$(CARGO) deny --version >/dev/null 2>&1 || { echo "deny: needs cargo-deny: cargo install --locked cargo-deny" >&2; exit 1; }
	$(CARGO) deny --locked check licenses bans sources

advisories:
	@$(CARGO) deny --version >/dev/null 2>&1 || { echo "advisories: needs cargo-deny: cargo install --locked cargo-deny" >&2; exit 1; }
	$(CARGO) deny --locked check advisories

msrv:
	@rustup run $(OLDEST_RUST) rustc --version 2>/dev/null || { echo "msrv: needs Rust $(OLDEST_RUST):" \
		"rustup toolchain install --profile minimal $(OLDEST_RUST)" >&2; exit 1; }
	rustup run $(OLDEST_RUST) cargo check --workspace --all-targets --locked --target-dir target/msrv

# Tests install their own; only measurements use the one below target/.
studies: export SEATMAP_CELLCC ?= $(CURDIR)/target/cell/bin/seatmap-cellcc

bench: build
	$(CARGO) run --release --locked --package seatmap-bench -- --keep bench/runs
	$(CARGO) build --release --locked --package seatmap-bench --example groups
	bench/shared/run --groups $(RELEASE)/examples/groups --sizes 64,256

# libspe2 and its compiler, below target/, for the measured C programs.
programs-in-c:
	$(CARGO) build --release --locked --package seatmap-libspe2
	./scripts/install-lib $(RELEASE) "$(CURDIR)/target/cell" spe2

# Each script names its requirements and omits programs that are not installed.
figures: build
	$(CARGO) build --release --locked --package seatmap-trace-c
	bench/quiet/run --seatmap $(SEATMAP)
	bench/aa/run --seatmap $(SEATMAP)
	bench/gate/run --seatmap $(SEATMAP) --keep target/gates.jsonl
	bench/observe/run $(SEATMAP)
	bench/gains/run --seatmap $(SEATMAP)
	bench/auto/run --seatmap $(SEATMAP)
	bench/watch/run --seatmap $(SEATMAP)
	bench/pretend/run --seatmap $(SEATMAP)
	bench/advise/run --seatmap $(SEATMAP)
	bench/services/run --seatmap $(SEATMAP)
	bench/cluster/run --seatmap $(SEATMAP) --large

programs: build
	bench/programs/run --seatmap $(SEATMAP) --keep bench/runs/$$(date +%F)-programs

studies: build-papers programs-in-c
	$(PAPERS) study all --write docs/papers/studies
	./scripts/verdicts --write >/dev/null

pictures: build
	./scripts/pictures $(SEATMAP) docs/pictures

docs:
	./scripts/rustdoc $(CARGO)
	@command -v mdbook >/dev/null || { echo "docs: the API is below target/doc. The guide needs mdbook:" \
		"cargo install --locked mdbook" >&2; exit 1; }
	./scripts/guide build target/guide
	$(CARGO) run --locked --package seatmap -- machines --site target/guide/gallery docs/gallery/profiles

docs-links:
	./scripts/guide check target/guide

dist:
	./scripts/dist

dist-check:
	./scripts/dist-check

wheel:
	./scripts/wheel

python: target/python/with-numpy
	SEATMAP_PYTHON="$(CURDIR)/target/python/bin/python" $(CARGO) test --workspace --locked \
		--features $(TEST_FEATURES) --test python --test control

target/python/with-numpy:
	python3 -m venv target/python
	target/python/bin/pip install --quiet numpy scipy networkx
	touch $@

fuzz:
	./scripts/fuzz

install:
	$(CARGO) install --locked --path crates/front/cli $(ROOT)
	./scripts/install-shell "$(BIN)/seatmap" "$(SHARE)" "$(MANUAL)"

install-papers:
	$(CARGO) install --locked --path papers/cli $(ROOT)
	./scripts/install-shell "$(BIN)/seatmap-papers" "$(SHARE)" "$(MANUAL)"

install-lib:
	$(CARGO) build --release --locked --package seatmap-place-c --package seatmap-worker-c --package seatmap-trace-c \
		--package seatmap-libspe2
	./scripts/install-lib $(RELEASE) "$(PREFIX)"

clean:
	$(CARGO) clean
	rm -f demo/*.json demo/*.html demo/*.svg
