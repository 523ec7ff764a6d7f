#!/bin/sh
# Checks the format and style of the library, its examples and tests. Warnings are errors.
#
#     check.sh              runs gofmt, and go vet on the library
#     check.sh --thorough   also checks the tools and the driver, and runs staticcheck, which takes minutes the first time
#                           because it analyzes gRPC
set -eu
thorough=${1:-}
cd "$(dirname "$0")/.."
# -trimpath keeps folder names out of the cache keys, so all checks and clones share the build cache.
export GOFLAGS=-trimpath

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  echo "not formatted, run gofmt -w on:" $unformatted >&2
  exit 1
fi
go vet ./...
[ "$thorough" = --thorough ] || exit 0

staticcheck=$(go -C tools tool -n staticcheck)
# Exclude the stubs: they have no package comment.
"$staticcheck" . ./examples/...

(cd tools && go vet ./... && "$staticcheck" ./...)

# The driver depends on the packed library. Check a copy that depends on this folder instead.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp conformance/*.go conformance/go.mod conformance/go.sum staticcheck.conf "$copy"
go mod edit -replace="sodafountain.internal/sodafountain=$PWD" "$copy/go.mod"
cd "$copy"
go vet ./...
"$staticcheck" ./...
