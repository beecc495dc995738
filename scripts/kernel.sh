#!/bin/sh
# Unpacks a Debian kernel and its headers into build/kernel/VERSION, for the test of kernel/ in an emulated machine. Nothing is
# installed. Without argument the release's own kernel; `scripts/kernel.sh 6.12.107+deb12-amd64` another that apt knows.
set -eu

cd "$(dirname "$0")/.."
version=${1:-}
# Root's apt-get leaves the network to a user who may write only where it is told; the rest needs no rights.
fetch() {
    apt-get download -qq -o APT::Sandbox::User="$(id -un)" "$@" >&2
}
depends() {
    apt-cache depends "$1" | sed -n "s/^ *Depends: \($2\)$/\1/p" | head -1
}

if [ -z "$version" ]; then
    version=$(depends linux-image-amd64 'linux-image-[0-9].*')
    version=${version#linux-image-}
fi
if [ -z "$version" ]; then
    echo "kernel: apt knows no linux-image-amd64" >&2
    exit 1
fi
[ ! -e "build/kernel/$version/ready" ] || exit 0

image=linux-image-$version
apt-cache show "$image" >/dev/null 2>&1 || image=$image-unsigned
headers=linux-headers-$version
common=$(depends "$headers" 'linux-headers-.*-common')
kbuild=$(depends "$headers" 'linux-kbuild-.*')
scratch=build/kernel/$version.new
rm -rf "$scratch" "build/kernel/$version"
mkdir -p "$scratch"
cd "$scratch"
fetch "$image" "$headers" "$common" "$kbuild"
dpkg --fsys-tarfile linux-image-*.deb | tar -x ./boot
for package in linux-headers-*.deb linux-kbuild-*.deb; do
    dpkg -x "$package" .
done
rm -f ./*.deb
# They expect to be at /usr/src.
root=$(dirname "$PWD")/$version
sed -i "s# /usr/src/# $root/usr/src/#" "usr/src/$headers/Makefile"
touch ready
cd ..
mv "$version.new" "$version"
