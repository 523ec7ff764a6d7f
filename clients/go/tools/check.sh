#!/bin/sh
# Checks format and style of the library, its examples and tests; warnings are errors.
#
#     check.sh              gofmt, and go vet of the library
#     check.sh --thorough   its tools and its driver too, and staticcheck, which takes minutes the first time: it reads all
#                           that gRPC is made of
set -eu
thorough=${1:-}
cd "$(dirname "$0")/.."
# Compiled once for all checks, wherever the folder is.
export GOFLAGS=-trimpath

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
  echo "gofmt -w is needed for:" $unformatted >&2
  exit 1
fi
# The stubs are generated, and have no comment on the package.
go vet ./...
[ "$thorough" = --thorough ] || exit 0

staticcheck=$(go -C tools tool -n staticcheck)
"$staticcheck" . ./examples/...

(cd tools && go vet ./... && "$staticcheck" ./...)

# The driver knows the library by its package alone; a copy of it takes the folder.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp conformance/*.go conformance/go.mod conformance/go.sum staticcheck.conf "$copy"
go mod edit -replace="sodafountain.internal/sodafountain=$PWD" "$copy/go.mod"
cd "$copy"
go vet ./...
"$staticcheck" ./...
