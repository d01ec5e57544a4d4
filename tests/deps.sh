#!/bin/sh
# Installs what assay needs, and says what it does: Debian packages, and a Python environment in
# the folder given (default .venv). Nothing is done twice; nothing outside is changed.
#   tests/deps.sh [system|python|vendors] ...
set -eu
venv=${VENV:-.venv}
packages="gcc g++ make pkg-config libmpfr-dev libgmp-dev librandom123-dev libjansson-dev libssl-dev \
check xz-utils python3 python3-venv clang libclang-rt-14-dev"

say() { printf 'deps: %s\n' "$*"; }

system() {
    missing=
    for p in $packages; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
    done
    if [ -z "$missing" ]; then
        say "all Debian packages are there"
        return
    fi
    if ! command -v apt-get >/dev/null; then
        say "this is no Debian system: install by hand what corresponds to:$missing"
        exit 1
    fi
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { say "run as root, or install:$missing"; exit 1; }
        sudo=sudo
    fi
    say "installing Debian packages:$missing"
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# A requirements file is installed once; a line "name --no-deps" goes in without its dependencies.
python_packages() {
    folder=$1 list=$2
    stamp=$folder/.assay-$(basename "$list")
    if cmp -s "$list" "$stamp"; then
        say "the Python environment $folder is there"
        return
    fi
    say "making the Python environment $folder from $list"
    [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
    grep -v -e '^ *#' -e '--no-deps' "$list" >"$folder/.with-deps"
    "$folder/bin/python" -m pip install -q --disable-pip-version-check -r "$folder/.with-deps"
    sed -n 's/ *--no-deps *$//p' "$list" | while read -r line; do
        "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-deps "$line"
    done
    cp "$list" "$stamp"
}

[ $# -gt 0 ] || set -- system python
for part in "$@"; do
    case $part in
    system) system ;;
    python) python_packages "$venv" reports/requirements.txt ;;
    vendors) python_packages .venv-vendors reports/requirements-vendors.txt ;;
    *) say "unknown part '$part': system, python, vendors"; exit 2 ;;
    esac
done
