# What a person or CI does with flamel. `make` alone lists the targets.

# Where cargo builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)

# What is missing is installed, where it is a Debian package: a command or file, and its package.
BUILD_NEEDS := gcc:gcc /usr/include/stdio.h:libc6-dev
TEST_NEEDS := $(BUILD_NEEDS) g++:g++ readelf:binutils xz:xz-utils perf:linux-perf \
	chromium:chromium xmllint:libxml2-utils tsc:node-typescript \
	go:golang-go
BENCH_NEEDS := $(BUILD_NEEDS) perf:linux-perf

# Many tests need root. Without it the tests are built as the user, and only run through sudo.
ifneq ($(shell id -u),0)
AS_ROOT := --config "target.'cfg(all())'.runner='sudo -E env PATH=$(PATH)'"
endif

# The picture of `make demo`, further arguments of `make bench`, such as --rounds 11, and for how long
# `make fuzz` tries each decoder.
PICTURE ?= flame.svg
BENCH_ARGS ?=
FUZZ_SECONDS ?= 300

.PHONY: help demo test truth bench fuzz

help: ## list the targets
	@sed -n 's/^\([a-z]*\): .*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: ## build flamel and profile a small program: flame.svg
	scripts/packages.sh $(BUILD_NEEDS)
	cargo build --release
	scripts/demo.sh $(TARGET)/release/flamel $(TARGET)/demo $(PICTURE)

test: ## everything that CI checks
	scripts/packages.sh $(TEST_NEEDS)
	cargo fmt --all -- --check
	cargo clippy --workspace --all-targets -- -D warnings
	tsc -p crates/views/assets
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	cargo test --workspace $(AS_ROOT)

truth: ## the slow tests that compare profiles with known truth
	scripts/packages.sh $(TEST_NEEDS)
	cargo test --workspace $(AS_ROOT) -- --ignored --test-threads=1 truth_

bench: ## measure flamel beside perf, in turn: a Markdown table
	scripts/packages.sh $(BENCH_NEEDS)
	cargo build --release -p flamel -p testkit
	$(TARGET)/release/bench $(BENCH_ARGS)

fuzz: ## damaged inputs for every decoder, FUZZ_SECONDS (300) each; installs cargo-fuzz and nightly
	scripts/packages.sh $(BUILD_NEEDS) g++:g++ zstd:zstd
	fuzz/run.sh $(FUZZ_SECONDS)
