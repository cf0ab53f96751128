#!/bin/sh
# Profiles the demo program with a built flamel, for a person who has just built it.
#
#   scripts/demo.sh FLAMEL FOLDER PICTURE
#
# The demo program (crates/testkit/workloads/demo.c writes, reads, sorts and compresses JSON) is
# compiled into FOLDER and runs for five seconds.
set -eu

flamel=$1 folder=$2 picture=$3
source=$(dirname "$0")/../crates/testkit/workloads/demo.c

mkdir -p "$folder"
gcc -O2 -g "$source" -o "$folder/demo"

# Debian lets only root use perf_event_open(2); elsewhere one's own processes are one's own.
as_root=
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 0)
if [ "$(id -u)" -ne 0 ] && [ "$paranoid" -gt 2 ]; then
    echo "kernel.perf_event_paranoid is $paranoid, which leaves profiling to root: running flamel with sudo"
    if ! command -v sudo >/dev/null; then
        echo "there is no sudo here: as root, run: make demo" >&2
        exit 1
    fi
    as_root=sudo
fi
set -x
$as_root "$flamel" record -o "$picture" -- "$folder/demo" 5
{ set +x; } 2>/dev/null
echo
echo "The picture is $(realpath "$picture"): open it in a browser, click a frame, search with Ctrl-F."
