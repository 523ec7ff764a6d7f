#!/bin/sh
# Builds the driver and the example bot from the packed library, as an app would:
#
#     install.sh PROXY_FOLDER OUTPUT_FOLDER
#
# PROXY_FOLDER contains the package of tools/pack. All other modules come from the module cache or the configured proxy.
set -eu
proxy=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
cd "$(dirname "$0")"

cached=$(go env GOMODCACHE)/cache/download
GOPROXY="file://$proxy,file://$cached,$(go env GOPROXY)"
# A separate cache, because the version in it is not released.
GOMODCACHE=$output/modules
GOFLAGS="-mod=mod -modcacherw -trimpath -buildvcs=false"
GONOSUMDB=sodafountain.internal
GOWORK=off
# The go command assumes that a version never changes, but this one does. Delete its files and do not index them.
GODEBUG=goindex=0
export GOPROXY GOMODCACHE GOFLAGS GONOSUMDB GOWORK GODEBUG

rm -rf "$output/modules/sodafountain.internal" "$output/modules/cache/download/sodafountain.internal"
# The hash of the library changes as well, so it is written to copies of go.mod and go.sum.
cp go.mod go.sum "$output"
go build -modfile="$output/go.mod" -o "$output/driver" .
go build -modfile="$output/go.mod" -o "$output/bot" sodafountain.internal/sodafountain/examples/bot
go version -m "$output/driver" | grep "dep.*sodafountain.internal/sodafountain"
