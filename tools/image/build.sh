#!/usr/bin/env bash
# Build the container image with the first of docker, podman and buildah that works.
#
#   TAG      name and tag of the image              (default: sodafountain:<version>)
#   BASE     image with Python 3.11 or newer        (default: the one in the Containerfile)
#   ENGINE   docker, podman or buildah              (default: the first that works)
#   PIP_CONF pip configuration file, for a mirror   (default: that of the user or the system)
#   CA       certificate bundle for pip             (default: that of pip)
#   SBOM     file for the list of all packages      (default: build/sbom.cdx.json)
#
# An empty SCAN omits the check for known vulnerabilities. Arguments are passed to the build command. PIP_CONF and CA are mounted for
# the install step only.
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
[ -n "$engine" ] || { echo "docker with buildx, podman or buildah is needed to build an image. On Debian, as root: apt-get install podman" >&2; exit 1; }

version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
tag=${TAG:-sodafountain:$version}
label=org.opencontainers.image
options=(--file deploy/Containerfile --tag "$tag" --label "$label.version=$version" --label "$label.revision=$revision")
[ -z "${BASE:-}" ] || options+=(--build-arg "BASE=$BASE")

conf=${PIP_CONF:-}
for candidate in "${PIP_CONFIG_FILE:-}" "${XDG_CONFIG_HOME:-${HOME:-}/.config}/pip/pip.conf" /etc/pip.conf; do
  if [ -z "$conf" ] && [ -f "$candidate" ]; then conf=$candidate; fi
done
ca=${CA:-${PIP_CERT:-$(python3 -m pip config get global.cert 2>/dev/null || true)}}
[ -z "$conf" ] || options+=(--secret "id=pip.conf,src=$conf")
[ -z "$ca" ] || options+=(--secret "id=ca.pem,src=$ca")

case $engine in
  # Run the steps in a chroot: in CI, containers cannot be nested.
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

# Copy the software bill of materials out of the image, and check it for known vulnerabilities.
sbom=${SBOM:-build/sbom.cdx.json}
mkdir -p "$(dirname "$sbom")"
inside=/opt/sodafountain/sbom.cdx.json
case $engine in
  buildah)
    container=$(buildah from --pull-never "$tag")
    trap 'buildah rm "$container" >/dev/null' EXIT
    copy=(bash -c 'cp "$(buildah mount "$1")$2" "$3"' - "$container" "$inside" "$sbom")
    [ "$(id -u)" = 0 ] || copy=(buildah unshare "${copy[@]}")
    "${copy[@]}"
    ;;
  *)
    container=$("$engine" create "$tag")
    trap '"$engine" rm "$container" >/dev/null' EXIT
    "$engine" cp "$container:$inside" "$sbom"
    ;;
esac
echo "Packages of the image: $sbom"
[ -n "${SCAN-1}" ] || exit 0
status=0
python3 tools/image/scan.py --sbom "$sbom" || status=$?
case $status in
  0) ;;
  1) echo "WARNING: the image has packages with known vulnerabilities, listed above." >&2 ;;
  *) echo "WARNING: the image was not checked for known vulnerabilities; the reason is above. Run make image-scan." >&2 ;;
esac
