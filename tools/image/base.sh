#!/usr/bin/env bash
# Makes a base image of Debian's own Python without a registry of images, as localhost/sodafountain-base. Its files are
# kept in build/image/base.tar, and there it is not made again.
set -euo pipefail
cd "$(dirname "$0")/../.."

for command in mmdebstrap podman runc; do
  command -v "$command" >/dev/null || { echo "$command is needed to test the image. On Debian: apt-get install mmdebstrap podman runc" >&2; exit 1; }
done
tar=build/image/base.tar
if [ ! -f "$tar" ]; then
  echo "Making a base image of Debian's packages …"
  mkdir -p "$(dirname "$tar")"
  # Unpacked and not configured: that is all Python needs, and takes seconds instead of minutes.
  mmdebstrap --quiet --format=tar --variant=extract --include=base-files,coreutils,dash,libc-bin,libstdc++6,python3,python3-venv,zlib1g \
    bookworm "$tar.new"
  mv "$tar.new" "$tar"
fi
podman import --quiet "$tar" localhost/sodafountain-base >/dev/null
