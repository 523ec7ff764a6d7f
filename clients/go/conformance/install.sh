#!/bin/sh
# Builds the driver, as an app would, and the example bot from the packed library:
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
GOFLAGS="-mod=mod -modcacherw -trimpath -buildvcs=false"
GONOSUMDB=sodafountain.internal
GOWORK=off
# A version never changes, says the go command, but this one does: neither the index of its files nor itself may be old.
GODEBUG=goindex=0
export GOPROXY GOMODCACHE GOFLAGS GONOSUMDB GOWORK GODEBUG

rm -rf "$output/modules/sodafountain.internal" "$output/modules/cache/download/sodafountain.internal"
# The library's hash goes into copies, for the same reason.
cp go.mod go.sum "$output"
go build -modfile="$output/go.mod" -o "$output/driver" .
go build -modfile="$output/go.mod" -o "$output/bot" sodafountain.internal/sodafountain/examples/bot
go version -m "$output/driver" | grep "dep.*sodafountain.internal/sodafountain"
