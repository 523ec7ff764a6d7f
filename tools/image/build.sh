#!/usr/bin/env bash
# Builds the container image with the first of docker, podman and buildah that works here.
#
#   TAG      what to call it                        (sodafountain:<version>)
#   BASE     an image with Python 3.11 or newer     (the Containerfile's)
#   ENGINE   docker, podman or buildah              (the first that works)
#   PIP_CONF pip's configuration, for a mirror      (the first that pip has: the user's, or the machine's)
#   CA       certificates that pip shall trust      (pip's own)
#
# Arguments go to the engine's build command. PIP_CONF and CA are mounted for the installing step alone.
set -euo pipefail
cd "$(dirname "$0")/../.."

works() {
  case $1 in
    docker) docker version && docker buildx version ;;
    podman) podman info ;;
    buildah) buildah info ;;
  esac >/dev/null 2>&1
}

engine=${ENGINE:-}
for candidate in docker podman buildah; do
  [ -n "$engine" ] && break
  if works "$candidate"; then engine=$candidate; fi
done
[ -n "$engine" ] || { echo "An image needs docker with buildx, podman or buildah, and none works here. On Debian: apt-get install podman" >&2; exit 1; }

version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
tag=${TAG:-sodafountain:$version}
label=org.opencontainers.image
options=(--file deploy/Containerfile --tag "$tag" --label "$label.version=$version" --label "$label.revision=$revision")
[ -z "${BASE:-}" ] || options+=(--build-arg "BASE=$BASE")

conf=${PIP_CONF:-}
for candidate in "${PIP_CONFIG_FILE:-}" "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" /etc/pip.conf; do
  if [ -z "$conf" ] && [ -f "$candidate" ]; then conf=$candidate; fi
done
ca=${CA:-${PIP_CERT:-$(python3 -m pip config get global.cert 2>/dev/null || true)}}
[ -z "$conf" ] || options+=(--secret "id=pip.conf,src=$conf")
[ -z "$ca" ] || options+=(--secret "id=ca.pem,src=$ca")

case $engine in
  # These run steps in a chroot where there is no way to make a container while building, in CI for one.
  podman) build=(podman build --format docker --isolation chroot) ;;
  buildah) build=(buildah bud --format docker --isolation chroot) ;;
  *) build=(docker build) ;;
esac
echo "Building $tag with $engine …"
"${build[@]}" "${options[@]}" "$@" .
case $engine in
  buildah) size=$(buildah images --format '{{.Size}}' "$tag") ;;
  *) size=$("$engine" image inspect --format '{{.Size}}' "$tag" | awk '{printf "%.0f MB", $1 / 1e6}') ;;
esac
echo "Built $tag: $size"
