#!/bin/sh
# Hands damaged inputs to every decoder, one target after the other.
#
#   fuzz/run.sh SECONDS
#
# Needs a nightly compiler from rustup and cargo-fuzz, and installs what is missing. What the fuzzer
# learns stays in fuzz/corpus; an input that breaks a decoder ends the run and is kept in
# fuzz/artifacts/TARGET.
set -eu
cd "$(dirname "$0")"
seconds=$1

if ! rustup toolchain list | grep -q '^nightly'; then
    echo "installing the nightly compiler: rustup toolchain install nightly" >&2
    rustup toolchain install nightly --profile minimal
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "installing cargo-fuzz: cargo install cargo-fuzz" >&2
    cargo install --locked cargo-fuzz
fi
for source in targets/*.rs; do
    target=$(basename "$source" .rs)
    mkdir -p "corpus/$target"
    echo "fuzzing $target for $seconds s" >&2
    cargo +nightly fuzz run --fuzz-dir . "$target" "corpus/$target" "seeds/$target" -- \
        -max_total_time="$seconds" -timeout=10 -print_final_stats=1
done
