#!/bin/sh
# Makes sure that programs are there, and installs the Debian packages of those that are not.
#
#   scripts/packages.sh WHAT:PACKAGE...
#
# WHAT is a command in PATH or, with a slash in front, a file. Nothing is done, and nothing needs
# the network or root, where all of it is there. Where apt-get is missing, the list is printed.
set -eu

missing=
for pair in "$@"; do
    what=${pair%:*}
    package=${pair##*:}
    case $what in
        /*) test -e "$what" && continue ;;
        *) command -v "$what" >/dev/null && continue ;;
    esac
    echo "missing: $what (Debian package $package)" >&2
    case " $missing " in
        *" $package "*) ;;
        *) missing="$missing $package" ;;
    esac
done
test -n "$missing" || exit 0

if ! command -v apt-get >/dev/null; then
    echo "there is no apt-get here: install what Debian calls$missing, then run this again" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "neither root nor sudo: as root, run: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "installing$missing" >&2
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update -q && apt-get install -q -y --no-install-recommends "$@"' sh $missing >&2
