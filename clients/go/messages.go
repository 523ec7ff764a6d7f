package sodafountain

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// toOptions converts an Options or the options message of a kind to an Options.
func toOptions(options proto.Message) (*pb.Options, *Error) {
	if wrapped, ok := options.(*pb.Options); ok && wrapped != nil {
		return wrapped, nil
	}
	wrapped := &pb.Options{}
	return wrapped, wrap(options, wrapped)
}

// toMove converts a LegalMove, a Move or the move message of a kind to a Move.
func toMove(move proto.Message) (*pb.Move, *Error) {
	if legal, ok := move.(*pb.LegalMove); ok && legal.GetMove() != nil {
		return legal.GetMove(), nil
	}
	if wrapped, ok := move.(*pb.Move); ok && wrapped != nil {
		return wrapped, nil
	}
	wrapped := &pb.Move{}
	return wrapped, wrap(move, wrapped)
}

// wrap sets the field of the wrapper's oneof "game" that has the type of the message. It finds the field by descriptor, so
// a new kind needs no change here.
func wrap(message, wrapper proto.Message) *Error {
	outer := wrapper.ProtoReflect()
	name := outer.Descriptor().Name()
	if message == nil || !message.ProtoReflect().IsValid() {
		return argumentError("The %s must not be nil.", strings.ToLower(string(name)))
	}
	inner := message.ProtoReflect()
	fields := outer.Descriptor().Oneofs().ByName("game").Fields()
	kinds := make([]string, fields.Len())
	for i := range kinds {
		field := fields.Get(i)
		if outer.NewField(field).Message().Type() == inner.Type() {
			outer.Set(field, protoreflect.ValueOfMessage(inner))
			return nil
		}
		kinds[i] = string(field.Message().Name())
	}
	return argumentError("The %s must be %s or one of %s, not %s.", strings.ToLower(string(name)), name, strings.Join(kinds, ", "), inner.Descriptor().Name())
}
