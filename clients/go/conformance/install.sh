#!/bin/sh
# Builds the driver as an app would, from the packed library:
#
#     install.sh PROXY_FOLDER OUTPUT_FOLDER
#
# PROXY_FOLDER is where tools/pack put the package. Everything else comes from the module cache, or from the proxy that the
# go command is set to.
set -eu
proxy=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
cd "$(dirname "$0")"

cached=$(go env GOMODCACHE)/cache/download
GOPROXY="file://$proxy,file://$cached,$(go env GOPROXY)"
# A cache of its own, so that nobody else's is told of a release that there is not yet.
GOMODCACHE=$output/modules
GOFLAGS="-mod=mod -modcacherw"
GONOSUMDB=sodafountain.internal
GOWORK=off
export GOPROXY GOMODCACHE GOFLAGS GONOSUMDB GOWORK

# A version never changes, says the go command, but this one does.
rm -rf "$output/modules/sodafountain.internal" "$output/modules/cache/download/sodafountain.internal"
# The library's hash goes into copies, for the same reason.
cp go.mod go.sum "$output"
go build -trimpath -buildvcs=false -modfile="$output/go.mod" -o "$output/driver" .
go version -m "$output/driver" | grep "dep.*sodafountain.internal/sodafountain"
