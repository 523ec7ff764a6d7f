package sodafountain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

const (
	// The first line of a commitment text.
	heading         = "sodafountain.v1"
	seedBytes       = 32
	commitmentBytes = sha256.Size
)

// commitment is the commitment to the seed of one game. The viewers of a game may share it.
type commitment struct {
	gameID string
	mu     sync.Mutex
	// The commitment of the first state. Nil before it.
	kept []byte
}

// get returns the commitment; nil before the first state.
func (c *commitment) get() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.kept)
}

// checkState keeps the commitment of the first state. It returns an error if a later state has another one.
func (c *commitment) checkState(state *pb.GameState) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := state.GetSeedCommitment()
	if c.kept == nil && len(found) > 0 {
		c.kept = bytes.Clone(found)
	}
	return c.compare(found)
}

// checkHistory returns an error if a history has another commitment, or if it reveals a seed that is not the one that
// was committed to for this game. It does not keep the commitment of a history.
func (c *commitment) checkHistory(history *pb.GetHistoryResponse) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if problem := c.compare(history.GetSeedCommitment()); problem != nil {
		return problem
	}
	if history.GetStatus() != pb.GameStatus_GAME_STATUS_FINISHED || history.GetSealed() {
		return nil
	}
	hash := sha256.Sum256([]byte(history.GetCommitmentText()))
	if !bytes.Equal(hash[:], history.GetSeedCommitment()) || !c.isAbout(history) {
		return changedError("The history of game %s does not match its seed commitment.", c.gameID)
	}
	return nil
}

// compare returns an error if a commitment is not the one that is kept. The caller holds the mutex.
func (c *commitment) compare(found []byte) *Error {
	if c.kept != nil && !bytes.Equal(found, c.kept) {
		return changedError("The seed commitment of game %s has changed.", c.gameID)
	}
	return nil
}

// isAbout returns whether the commitment text of a history names this game and the facts of the history. A later
// release may add lines to the text, and fields and values to the options.
func (c *commitment) isAbout(history *pb.GetHistoryResponse) bool {
	text, isComplete := strings.CutSuffix(history.GetCommitmentText(), "\n")
	lines := strings.Split(text, "\n")
	facts := map[string]string{}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, " ")
		facts[name] = value
	}
	var options pb.Options
	json := protojson.UnmarshalOptions{DiscardUnknown: true}
	if err := json.Unmarshal([]byte(facts["options"]), &options); err != nil {
		return false
	}
	return isComplete &&
		lines[0] == heading &&
		len(facts) == len(lines)-1 &&
		facts["game"] == c.gameID &&
		history.GetGameId() == c.gameID &&
		facts["seats"] == strconv.Itoa(int(history.GetSeatCount())) &&
		len(history.GetSeed()) == seedBytes &&
		facts["seed"] == hex.EncodeToString(history.GetSeed()) &&
		proto.Equal(known(&options), known(history.GetOptions()))
}

// known returns options without the fields and enum values of a later release.
func known(options *pb.Options) *pb.Options {
	copied := &pb.Options{}
	proto.Merge(copied, options)
	discardUnknown(copied.ProtoReflect())
	return copied
}

// discardUnknown clears the fields and enum values of a later release. No options have a map, or a list of messages or
// enum values.
func discardUnknown(message protoreflect.Message) {
	message.SetUnknown(nil)
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList():
			// Every number is known.
		case field.Message() != nil:
			discardUnknown(value.Message())
		case field.Enum() != nil && field.Enum().Values().ByNumber(value.Enum()) == nil:
			message.Clear(field)
		}
		return true
	})
}

func changedError(format, gameID string) *Error {
	return &Error{Reason: ReasonCommitmentChanged, Code: codes.DataLoss, Message: fmt.Sprintf(format, gameID)}
}
