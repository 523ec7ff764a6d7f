#!/usr/bin/env bash
# Build a base image with Debian's Python for `make image-test`, without an image registry. Print its name.
set -euo pipefail

for command in mmdebstrap podman runc; do
  command -v "$command" >/dev/null || { echo "$command is needed to test the image. On Debian, as root: apt-get install mmdebstrap podman runc" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "image-test must run as root: the tests inspect the processes of containers in /proc" >&2; exit 1; }
name=localhost/sodafountain-base:$(sha256sum "$0" | cut -c 1-12) # a change of this file changes the name
if ! podman image exists "$name"; then
  echo "Building $name from Debian packages (once, about 30 seconds) …" >&2
  # Extract packages without configuring them: enough for Python, and six times as fast.
  # dpkg does not run, so list the packages in its database, as in any other image.
  list='for deb in "$1"/var/cache/apt/archives/*.deb; do dpkg-deb --field "$deb" && printf "Status: install ok unpacked\n\n"; done'
  mmdebstrap --quiet --format=tar --variant=extract --include=base-files,coreutils,dash,libc-bin,libstdc++6,python3-venv,zlib1g \
    --extract-hook="{ $list; } >\"\$1/var/lib/dpkg/status\"" bookworm | podman import --quiet - "$name" >/dev/null
fi
echo "$name"
