// The driver of the conformance suite. Like any app, it depends on the packed library, not on the folder above. go.sum omits
// the hash of the library, which changes with every edit.
module sodafountain.internal/conformance

go 1.26.0

require (
	google.golang.org/protobuf v1.36.12
	sodafountain.internal/sodafountain v0.1.0
)

require (
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/grpc v1.85.0 // indirect
)
