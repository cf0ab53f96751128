#!/bin/sh
# Hands damaged inputs to every decoder, one target after the other.
#
#   fuzz/run.sh SECONDS
#
# Needs zstd(1), a nightly compiler from rustup and cargo-fuzz, and installs the latter two where they
# are missing. What the fuzzer
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
# Recordings lie compressed beside the tests that read them; those that the fuzzer can handle quickly
# are seeds.
mkdir -p seeds/perfdata
for packed in ../crates/perfdata/tests/corpus/*.zst; do
    seed=seeds/perfdata/$(basename "$packed" .zst)
    case $seed in *.txt) continue ;; esac
    if [ "$(zstd -dc "$packed" | wc -c)" -lt 100000 ]; then
        zstd -qdf "$packed" -o "$seed"
    fi
done

for source in targets/*.rs; do
    target=$(basename "$source" .rs)
    mkdir -p "corpus/$target"
    echo "fuzzing $target for $seconds s" >&2
    cargo +nightly fuzz run --fuzz-dir . "$target" "corpus/$target" "seeds/$target" -- \
        -max_total_time="$seconds" -timeout=10 -print_final_stats=1
done
