# The commands a user needs: demo, test, bench, install. Each sets up what it needs.

PREFIX ?= /usr/local
BUILD := build
PRESTORE := target/release/prestore

# The library: its files, and the version that pkg-config and CMake tell.
TARGET := $(or $(CARGO_TARGET_DIR),target)
HEADERS := $(wildcard include/prestore*.h)
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
SONAME := libprestore.so.0
RECOMPUTE_SONAME := libprestore_recompute.so.0

.PHONY: demo test soak bench build install install-lib lib clean workloads fmt-check clippy unit

build: setup-build
	cargo build --release --locked

# Records the bundled key-value store under YCSB A and prints what to do about its writes.
demo: build workloads
	@echo
	$(PRESTORE) advise -- $(BUILD)/workloads/kv --workload=A

# Writes what the README shows of it anew; a test holds the README to it.
.PHONY: readme
readme: build workloads
	PRESTORE_WRITE_README=1 cargo test --release --locked -p prestore-cli --test readme

# Runs what P0, P1 and P4 publish and writes data and page of docs/repro.md anew; tests hold both to each other. An hour and a half.
# The page says what moved; data/moved.toml, why.
.PHONY: repro
REPRODUCED := p0-fig-3 p0-listing-1-skip p0-listing-3 p0-kv-a p0-kv-a-128 p0-fig-5 p0-fig-13 p0-ring p0-b-overhead \
	p1-fig-3 p1-fig-4 p4-table-3-4 p4-one-thread p4-four-threads p4-twelve-threads p4-table-3-7 p4-fig-3-6 \
	p4-crossing p4-fig-4-3
repro: build
	$(PRESTORE) repro $(REPRODUCED) --format json > $(BUILD)/ours.json
	mv crates/repro/data/ours.json crates/repro/data/before.json
	mv $(BUILD)/ours.json crates/repro/data/ours.json
	PRESTORE_WRITE_REPRO=1 cargo test --release --locked --workspace --all-features --test page

# Runs P1's programs on machines of today and writes data and table of docs/caching-modes.md anew; a test holds both to each other.
.PHONY: repro-today
repro-today: build
	$(PRESTORE) repro p1-today --quick --format json > $(BUILD)/today.json
	mv $(BUILD)/today.json crates/repro/data/today.json
	PRESTORE_WRITE_REPRO=1 cargo test --release --locked --workspace --all-features --test today

# Runs what real Optane DIMMs were measured with and writes data and tables of docs/optane.md anew; the same tests hold both.
.PHONY: repro-optane
repro-optane:
	PRESTORE_WRITE_REPRO=1 cargo test --release --locked --workspace --all-features --test optane --test optane_beyond

test: setup-test fmt-check clippy unit
	$(MAKE) --no-print-directory -C workloads check OUT=$(CURDIR)/$(BUILD)/workloads
	$(MAKE) --no-print-directory -s -C examples/kv check PRESTORE=$(abspath $(TARGET))/release/prestore
	@echo "make test: everything passed"

bench: setup-bench build workloads $(BUILD)/benches/library
	benches/run.sh
	$(BUILD)/benches/library

$(BUILD)/benches/library: $(wildcard benches/library/*) $(HEADERS) workloads
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Iinclude $(wildcard benches/library/*.c) $(BUILD)/workloads/lib/libprestore.a \
		-lpmem -pthread -ldl -lm -o $@

fmt-check:
	cargo fmt --all -- --check

clippy:
	cargo clippy --release --locked --workspace --all-targets --all-features -- -D warnings

# One profile for everything, so that the engine and the dependencies are built once; only the test programs themselves are
# hardly optimised (scripts/rustc-for-tests.sh). All code that the client inserts is
# checked as it is made. Properties are tried on the same cases each time, so that what fails does so for everybody; `make soak`
# tries others.
unit: export PRESTORE_CHECK_CODE = 1
unit: export PROPTEST_RNG_SEED ?= 1
unit: workloads aarch64
	scripts/tests.sh

# Hours of what the suite does for minutes: random blocks and programs, the programs of docs/transparency.md, which
# it writes, and every point of docs/optane.md, of which the suite runs one of each curve. PRESTORE_SOAK_BLOCKS,
# PRESTORE_SOAK_PROGRAMS and PRESTORE_SOAK_SEED say how much, and of what. At the end the tests of the tracer, and
# a part of the random ones, with the assertions of the engine (PRESTORE_ENGINE_FLAVOUR=debug, a build of its own).
.PHONY: soak setup-soak soak-assertions
soak: export PRESTORE_CHECK_CODE = 1
soak: setup-soak build
	PRESTORE_SOAK_PAGE=$(CURDIR)/docs/transparency.md cargo test --release --locked --workspace --all-features \
		--test transparency --test random_blocks --test csmith --test hangs --test verify --no-fail-fast -- --ignored --nocapture
	cargo test --release --locked --workspace --all-features --test processes --test verdict_suite --test sampled \
		--test optane --test optane_beyond -- --ignored --nocapture \
		--skip what_the_advice_does_on_this_host
	$(MAKE) --no-print-directory unit PROPTEST_RNG_SEED=$$(date +%s)
	$(MAKE) --no-print-directory soak-assertions

ASSERTED := random_blocks found_blocks csmith transparency hangs executed jit registers signals waiting_signals outside \
	privileges programs robustness
# What counts and computes, in a build that checks arithmetic for overflow: in a release build it wraps around.
OVERFLOWS := prestore-dirtbuster prestore-replay prestore-trace prestore-sim
soak-assertions: export PRESTORE_CHECK_CODE = 1
soak-assertions: export PRESTORE_ENGINE_FLAVOUR = debug
soak-assertions: export PRESTORE_SOAK_BLOCKS ?= 50000
soak-assertions: setup-soak
	cargo test --release --locked --workspace --all-features $(ASSERTED:%=--test %) --no-fail-fast
	cargo test --release --locked --workspace --all-features --test random_blocks --no-fail-fast -- --ignored
	cargo test --locked --all-features $(OVERFLOWS:%=-p %) --no-fail-fast

# Writes data and page of docs/verdicts.md anew; tests hold both to each other. A quarter of an hour; then, on an idle machine, what
# this host measures: ten minutes.
.PHONY: verdicts verdicts-host
verdicts: FOUND := following_the_advice_pays
verdicts-host: FOUND := what_the_advice_does_on_this_host
verdicts verdicts-host:
	PRESTORE_WRITE_VERDICTS=1 cargo test --release --locked --workspace --all-features --test verdict_suite -- \
		--ignored --nocapture $(FOUND)

setup-soak:
	@scripts/setup.sh soak

# Millions of images of power cuts, 40000 and more of each loop and scheme of the library for failure-safe loops, and
# 10000 of each run of the programs of workloads/pm and workloads/modes.
.PHONY: crash-long
crash-long: export PRESTORE_CRASH_IMAGES ?= 40000
crash-long: setup-build
	cargo test --release --locked -p prestore-recompute --test crash_images -- --nocapture
	PRESTORE_CRASH_IMAGES=10000 cargo test --release --locked --workspace --all-features --test pm -- --nocapture

# The library's own tests on the other architecture, emulated.
AARCH64 := aarch64-unknown-linux-gnu
.PHONY: aarch64
aarch64:
	@if rustup target list --installed 2>/dev/null | grep -qx $(AARCH64); then \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
		cargo test --release --locked -p prestore --all-features --target $(AARCH64); \
	else \
		echo "SKIPPED: the library's tests on AArch64: rustup target add $(AARCH64)" >&2; \
	fi

workloads:
	@$(MAKE) --no-print-directory -s -C workloads OUT=$(CURDIR)/$(BUILD)/workloads

install: build install-command install-lib install-recompute

# The command without its debug information, which goes where debuggers look for it; what shells and `man` know of it,
# the schemas of its output, and the licences. `uninstall` takes away what all of these put there.
BIN = $(DESTDIR)$(PREFIX)/bin/prestore
DEBUG = $(DESTDIR)$(PREFIX)/bin/.debug/prestore.debug
SHARE = $(DESTDIR)$(PREFIX)/share
.PHONY: install-command uninstall
install-command:
	install -D -m 755 $(PRESTORE) $(BIN)
	install -d $(dir $(DEBUG))
	objcopy --only-keep-debug $(BIN) $(DEBUG)
	strip --strip-debug $(BIN)
	objcopy --add-gnu-debuglink=$(DEBUG) $(BIN)
	$(PRESTORE) manual --output $(SHARE)/man/man1
	install -d $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	$(PRESTORE) completions bash >$(SHARE)/bash-completion/completions/prestore
	$(PRESTORE) completions zsh >$(SHARE)/zsh/site-functions/_prestore
	$(PRESTORE) completions fish >$(SHARE)/fish/vendor_completions.d/prestore.fish
	install -d $(SHARE)/prestore/schemas $(SHARE)/doc/prestore/library
	install -m 644 schemas/*.json $(SHARE)/prestore/schemas
	install -m 644 README.md LICENSE-APACHE LICENSE-MIT $(SHARE)/doc/prestore
	install -m 644 docs/man/*.md $(SHARE)/doc/prestore/library

uninstall:
	rm -f $(BIN) $(DEBUG)
	[ ! -d $(dir $(DEBUG)) ] || rmdir --ignore-fail-on-non-empty $(dir $(DEBUG))
	rm -f $(SHARE)/man/man1/prestore.1 $(SHARE)/man/man1/prestore-*.1
	rm -f $(SHARE)/bash-completion/completions/prestore $(SHARE)/zsh/site-functions/_prestore
	rm -f $(SHARE)/fish/vendor_completions.d/prestore.fish
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/include/,$(notdir $(HEADERS)))
	rm -f $(DESTDIR)$(PREFIX)/lib/libprestore.* $(DESTDIR)$(PREFIX)/lib/libprestore_recompute.*
	rm -f $(DESTDIR)$(PREFIX)/lib/pkgconfig/prestore.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/prestore-recompute.pc
	rm -rf $(DESTDIR)$(PREFIX)/lib/cmake/prestore $(SHARE)/prestore $(SHARE)/doc/prestore

# As an argument of rustc, not in Cargo.toml, so that Rust programs can use the crate without the standard library.
lib:
	cargo rustc --release --locked -p prestore --lib --features capi --crate-type staticlib
	cargo rustc --release --locked -p prestore --lib --features capi --crate-type cdylib -- \
		-C link-arg=-Wl,-soname,$(SONAME)

install-lib: lib
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig \
		$(DESTDIR)$(PREFIX)/lib/cmake/prestore $(DESTDIR)$(PREFIX)/share/prestore
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include
	install -m 644 $(TARGET)/release/libprestore.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(TARGET)/release/libprestore.so $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	strip --strip-debug $(DESTDIR)$(PREFIX)/lib/libprestore.a $(DESTDIR)$(PREFIX)/lib/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/libprestore.so
	sed 's/@VERSION@/$(VERSION)/' packaging/prestore.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/prestore.pc
	install -m 644 packaging/prestore-config.cmake $(DESTDIR)$(PREFIX)/lib/cmake/prestore
	sed 's/@VERSION@/$(VERSION)/' packaging/prestore-config-version.cmake.in \
		>$(DESTDIR)$(PREFIX)/lib/cmake/prestore/prestore-config-version.cmake
	install -m 644 fortran/prestore.f90 $(DESTDIR)$(PREFIX)/share/prestore

# The library for failure-safe loops.
.PHONY: lib-recompute install-recompute
lib-recompute:
	cargo rustc --release --locked -p prestore-recompute --lib --features capi --crate-type staticlib,cdylib -- \
		-C link-arg=-Wl,-soname,$(RECOMPUTE_SONAME)

install-recompute: lib-recompute
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/share/prestore
	install -m 644 include/prestore_recompute.h $(DESTDIR)$(PREFIX)/include
	install -m 644 $(TARGET)/release/libprestore_recompute.a $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(TARGET)/release/libprestore_recompute.so $(DESTDIR)$(PREFIX)/lib/$(RECOMPUTE_SONAME)
	strip --strip-debug $(DESTDIR)$(PREFIX)/lib/libprestore_recompute.a $(DESTDIR)$(PREFIX)/lib/$(RECOMPUTE_SONAME)
	ln -sf $(RECOMPUTE_SONAME) $(DESTDIR)$(PREFIX)/lib/libprestore_recompute.so
	sed 's/@VERSION@/$(VERSION)/' packaging/prestore-recompute.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/prestore-recompute.pc
	install -m 644 fortran/prestore_recompute.f90 $(DESTDIR)$(PREFIX)/share/prestore

# The sources of the kernel module where DKMS finds them; `dkms install prestore/$(VERSION)` builds and installs it.
KERNEL_SOURCE = $(DESTDIR)/usr/src/prestore-$(VERSION)
.PHONY: install-kernel
install-kernel:
	install -d $(KERNEL_SOURCE)
	install -m 644 $(wildcard kernel/*.c kernel/*.h) kernel/Kbuild kernel/Makefile kernel/dkms.conf $(KERNEL_SOURCE)

# The kernel module on a real kernel in an emulated machine, with what the library and the command make of it.
.PHONY: test-kernel
test-kernel: setup-test
	cargo test --release --locked --workspace --all-features --test kernel --test memory_types

.PHONY: setup-build setup-test setup-bench
setup-build:
	@scripts/setup.sh build

setup-bench:
	@scripts/setup.sh bench

setup-test:
	@scripts/setup.sh test

clean:
	rm -rf $(BUILD)
	cargo clean
