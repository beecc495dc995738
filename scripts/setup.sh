#!/bin/sh
# Makes sure that what Prestore is built (with "test": tested, with "soak": soaked, with "bench": measured) with is there:
# installs missing Debian packages where it may, otherwise says what to install.
set -eu

purpose=${1:-build}

# command:package pairs
need="cc:gcc c++:g++ cmake:cmake as:binutils strip:binutils make:make"
all=
if [ "$purpose" = soak ]; then
    all=soak
    purpose=test
fi
if [ "$purpose" = test ]; then
    need="$need gfortran:gfortran clang:clang gzip:gzip xz:xz-utils sqlite3:sqlite3 python3:python3
          pkg-config:pkg-config node:nodejs redis-server:redis-server redis-benchmark:redis-tools memcached:memcached dwz:dwz
          objcopy:binutils aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user patch:patch valgrind:valgrind
          csmith:csmith zstd:zstd bzip2:bzip2 lz4:lz4 openssl:openssl tcc:tcc nasm:nasm luajit:luajit lua5.4:lua5.4 tclsh:tcl
          gawk:gawk busybox:busybox lame:lame flac:flac cjpeg:libjpeg-turbo-progs jq:jq bc:bc git:git minisat:minisat"
    [ "$(uname -m)" != x86_64 ] || need="$need qemu-system-x86_64:qemu-system-x86 cpio:cpio dkms:dkms"
fi

missing=
for pair in $need; do
    command -v "${pair%%:*}" >/dev/null 2>&1 && continue
    case " $missing " in *" ${pair#*:} "*) ;; *) missing="$missing ${pair#*:}" ;; esac
done
if [ "$purpose" = test ] && command -v python3 >/dev/null 2>&1 &&
    ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    missing="$missing python3-venv"
fi
# Another python3 may come first on the path; the package is for Debian's.
if [ "$purpose" = test ] && ! python3 -c 'import numpy' 2>/dev/null && ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    missing="$missing python3-numpy"
fi
if [ "$purpose" = test ] && [ ! -e /usr/include/csmith/csmith.h ]; then
    missing="$missing libcsmith-dev"
fi
# Every program that is compared.
if [ -n "$all" ]; then
    list=$(dirname "$0")/transparency.toml
    for package in $(sed -n -e 's/^package = "\(.*\)"/\1/p' -e '/^also = /s/also = \|[][",]//gp' "$list" | sort -u); do
        [ "$package" = rustc ] || dpkg-query -s "$package" >/dev/null 2>&1 || missing="$missing $package"
    done
fi

# Only recommended by the cross compiler.
if [ "$purpose" = test ] && [ ! -e /usr/aarch64-linux-gnu/include/stdint.h ]; then
    missing="$missing libc6-dev-arm64-cross"
fi
if { [ "$purpose" = test ] || [ "$purpose" = bench ]; } && [ ! -e /usr/include/libpmemobj.h ]; then
    missing="$missing libpmemobj-dev"
fi
if [ "$purpose" = test ] && [ -z "$(find /usr/include -maxdepth 2 -name cblas.h)" ]; then
    missing="$missing libopenblas-dev"
fi
if [ "$purpose" = bench ] && [ ! -e /usr/include/libpmem.h ]; then
    missing="$missing libpmem-dev"
fi

if [ -n "$missing" ]; then
    root=
    [ "$(id -u)" = 0 ] || root=sudo
    if command -v apt-get >/dev/null 2>&1 && { [ -z "$root" ] || command -v sudo >/dev/null 2>&1; }; then
        echo "setup: installing$missing"
        export DEBIAN_FRONTEND=noninteractive
        # Debian starts installed servers; these are only wanted as programs.
        policy=/usr/sbin/policy-rc.d
        if [ -z "$root" ] && [ ! -e $policy ]; then
            printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy
            trap 'rm -f $policy' EXIT
        fi
        $root apt-get update -qq
        # shellcheck disable=SC2086 # a list of words
        $root apt-get install -y -qq --no-install-recommends $missing >/dev/null
    else
        echo "setup: these packages are missing, please install them:$missing" >&2
        exit 1
    fi
fi

if ! command -v cargo >/dev/null 2>&1; then
    if [ -x "$HOME/.cargo/bin/cargo" ]; then
        echo "setup: add $HOME/.cargo/bin to PATH" >&2
    else
        echo "setup: Rust is missing: install its stable toolchain with rustup (https://rustup.rs)" >&2
    fi
    exit 1
fi
if [ "$purpose" = test ] && command -v rustup >/dev/null 2>&1; then
    rustup component add rustfmt clippy >/dev/null 2>&1 ||
        echo "setup: rustfmt or clippy could not be added; make test needs both" >&2
    rustup target add aarch64-unknown-linux-gnu >/dev/null 2>&1 ||
        echo "setup: the AArch64 target could not be added; make test skips the tests that need it" >&2
fi
# The kernel that the module of kernel/ is tested with; without it its test says that it skips.
if [ "$purpose" = test ] && [ "$(uname -m)" = x86_64 ]; then
    "$(dirname "$0")/kernel.sh" || echo "setup: no kernel to test kernel/ with; make test skips its test" >&2
fi
