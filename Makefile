# The commands a user needs: demo, test, bench, install. Each sets up what it needs.

PREFIX ?= /usr/local
BUILD := build
PRESTORE := target/release/prestore

.PHONY: demo test bench build install clean workloads fmt-check clippy unit

build: setup-build
	cargo build --release --locked

# Records the bundled key-value store under YCSB A and prints what to do about its writes.
demo: build workloads
	@echo
	$(PRESTORE) advise -- $(BUILD)/workloads/kv --workload=A

test: setup-test fmt-check clippy unit
	$(MAKE) --no-print-directory -C workloads check OUT=$(CURDIR)/$(BUILD)/workloads
	@echo "make test: everything passed"

bench: build workloads
	benches/run.sh

fmt-check:
	cargo fmt --all -- --check

clippy:
	cargo clippy --release --locked --workspace --all-targets --all-features -- -D warnings

# One profile for everything, so that the engine and the dependencies are built once.
unit: workloads
	cargo test --release --locked --workspace --all-features

workloads:
	@$(MAKE) --no-print-directory -s -C workloads OUT=$(CURDIR)/$(BUILD)/workloads

install: build
	install -D -m 755 $(PRESTORE) $(DESTDIR)$(PREFIX)/bin/prestore
	install -D -m 644 include/prestore_region.h $(DESTDIR)$(PREFIX)/include/prestore_region.h

.PHONY: setup-build setup-test
setup-build:
	@scripts/setup.sh build

setup-test:
	@scripts/setup.sh test

clean:
	rm -rf $(BUILD)
	cargo clean
