package sodafountain

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

// Putting a kind's own message into the oneof "game" of what all games share, by descriptor: no game is known here.

// asOptions makes Options of an Options or of a kind's options message.
func asOptions(options proto.Message) (*pb.Options, *Error) {
	if whole, ok := options.(*pb.Options); ok && whole != nil {
		return whole, nil
	}
	whole := &pb.Options{}
	return whole, wrap(options, whole)
}

// asMove makes a Move of a LegalMove, a Move or a kind's move message.
func asMove(move proto.Message) (*pb.Move, *Error) {
	if legal, ok := move.(*pb.LegalMove); ok && legal.GetMove() != nil {
		return legal.GetMove(), nil
	}
	if whole, ok := move.(*pb.Move); ok && whole != nil {
		return whole, nil
	}
	whole := &pb.Move{}
	return whole, wrap(move, whole)
}

// wrap puts a message into the field of the envelope's oneof "game" that takes it.
func wrap(message, envelope proto.Message) *Error {
	whole := envelope.ProtoReflect()
	name := whole.Descriptor().Name()
	if message == nil || !message.ProtoReflect().IsValid() {
		return wrongArgument("Nil is no %s.", name)
	}
	own := message.ProtoReflect()
	fields := whole.Descriptor().Oneofs().ByName("game").Fields()
	kinds := make([]string, fields.Len())
	for i := range kinds {
		field := fields.Get(i)
		if whole.NewField(field).Message().Type() == own.Type() {
			whole.Set(field, protoreflect.ValueOfMessage(own))
			return nil
		}
		kinds[i] = string(field.Message().Name())
	}
	return wrongArgument("%s is no %s: give one, or one of %s.", own.Descriptor().Name(), name, strings.Join(kinds, ", "))
}
