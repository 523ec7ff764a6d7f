// Pins the generator of docs/openapi.yaml. This module contains no Go code.
module sodafountain/tools/openapi

go 1.26.0

tool github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv3

require (
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.33.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20261026165753-2ffab32bce7e // indirect
	google.golang.org/grpc v1.84.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
