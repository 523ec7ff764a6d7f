#!/usr/bin/env bash
# Makes an image with Debian's own Python, for `make image-test`: no registry of images is needed. Prints its name.
set -euo pipefail

for command in mmdebstrap podman runc; do
  command -v "$command" >/dev/null || { echo "$command is needed to test the image. On Debian, as root: apt-get install mmdebstrap podman runc" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "The image is tested as root: the tests look at containers' processes from outside" >&2; exit 1; }
name=localhost/sodafountain-base:$(sha256sum "$0" | cut -c 1-12) # whatever changes here makes another
if ! podman image exists "$name"; then
  echo "Making $name of Debian's packages: half a minute, once …" >&2
  # Unpacked and not configured: that is all Python needs, and takes a sixth of the time.
  mmdebstrap --quiet --format=tar --variant=extract --include=base-files,coreutils,dash,libc-bin,libstdc++6,python3-venv,zlib1g \
    bookworm | podman import --quiet - "$name" >/dev/null
fi
echo "$name"
