package sodafountain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "sodafountain.internal/sodafountain/sodafountainv1"
)

var testCall = callInfo{rpc: "NewGame", target: "games.example:443", timeout: 2500 * time.Millisecond}

func TestEveryReasonOfTheContractHasAConstant(t *testing.T) {
	constants := []Reason{
		ReasonMalformed, ReasonIllegalMove, ReasonNotYourTurn, ReasonGameFinished, ReasonStaleEtag, ReasonContention,
		ReasonRequestIDReused, ReasonTokenInvalid, ReasonWrongSeat, ReasonGameNotFound, ReasonUpgrading, ReasonLimit,
		ReasonStoreUnavailable, ReasonUnconfirmed, ReasonAPIKeyInvalid, ReasonUnimplemented, ReasonInternal, ReasonDraining,
	}
	var contract []Reason
	for _, value := range slices.Sorted(maps.Keys(pb.ErrorReason_name))[1:] {
		contract = append(contract, reasonNamed(pb.ErrorReason_name[value][len("ERROR_REASON_"):]))
	}
	if !slices.Equal(constants, contract) {
		t.Errorf("the constants are %s\nthe contract has %s", constants, contract)
	}
}

func TestErrorsContainTheDetailsOfTheService(t *testing.T) {
	failure := testCall.toError(serviceError(codes.InvalidArgument, "Two things are wrong.",
		&errdetails.ErrorInfo{Reason: "MALFORMED", Domain: "sodafountain", Metadata: map[string]string{"version": "3"}},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "seat_count", Description: "must be 2 to 4"}, {Field: "options", Description: "is required"},
		}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(1500 * time.Millisecond)},
	))
	want := &Error{
		Reason:          ReasonMalformed,
		Code:            codes.InvalidArgument,
		Message:         "Two things are wrong.",
		Metadata:        map[string]string{"version": "3"},
		FieldViolations: []FieldViolation{{"seat_count", "must be 2 to 4"}, {"options", "is required"}},
		RetryDelay:      1500 * time.Millisecond,
	}
	if fmt.Sprintf("%#v", failure) != fmt.Sprintf("%#v", want) {
		t.Errorf("%#v", failure)
	}
}

func TestReasonsOutsideTheContractAreUnknown(t *testing.T) {
	for _, name := range []string{"TOO_HOT", "UNSPECIFIED", ""} {
		failure := testCall.toError(serviceError(codes.FailedPrecondition, "It is too hot.",
			&errdetails.ErrorInfo{Reason: name, Domain: "sodafountain", Metadata: map[string]string{"degrees": "41"}}))
		wantReason(t, failure, ReasonUnknown, "It is too hot.")
		if failure.Code != codes.FailedPrecondition || failure.Metadata["degrees"] != "41" {
			t.Errorf("%#v", failure)
		}
	}
}

func TestErrorsWithoutAReasonAreDescribed(t *testing.T) {
	tls := testCall
	tls.tls = true
	for _, one := range []struct {
		call    callInfo
		code    codes.Code
		details string
		reason  Reason
		message string
	}{
		{testCall, codes.Unavailable, "no connection", ReasonUnreachable, "Cannot reach a Soda Fountain service at games.example:443 (no connection)."},
		{tls, codes.Unavailable, "no connection.", ReasonUnreachable, "Cannot reach a Soda Fountain service at games.example:443 over TLS (no connection)."},
		{testCall, codes.Canceled, "", ReasonUnreachable, "The server at games.example:443 cancelled NewGame (no details)."},
		{testCall, codes.DeadlineExceeded, "", ReasonDeadlineExceeded, "games.example:443 did not answer NewGame within 2.5 s."},
		{testCall, codes.Unimplemented, "unknown  method", ReasonUnimplemented, "The server at games.example:443 does not offer NewGame (unknown method)."},
		{testCall, codes.ResourceExhausted, "too large", ReasonLimit, "NewGame hit a limit at games.example:443 (too large)."},
		{testCall, codes.PermissionDenied, "no entry", ReasonUnknown, "NewGame failed at games.example:443 with PERMISSION_DENIED (no entry)."},
	} {
		failure := one.call.toError(status.Error(one.code, one.details))
		wantReason(t, failure, one.reason, one.message)
		if failure.Code != one.code {
			t.Errorf("%s: code %s", one.message, failure.Code)
		}
	}
}

func TestReasonsOfOtherDomainsAreIgnored(t *testing.T) {
	failure := testCall.toError(serviceError(codes.PermissionDenied, "no entry",
		&errdetails.ErrorInfo{Reason: "STALE_ETAG", Domain: "proxy.example"}))
	wantReason(t, failure, ReasonUnknown, "NewGame failed at games.example:443 with PERMISSION_DENIED (no entry).")
}

func TestTheErrorOfTheLastRetryIsReturned(t *testing.T) {
	last := serviceError(codes.Unavailable, "The store is unavailable.", &errdetails.ErrorInfo{Reason: "STORE_UNAVAILABLE", Domain: "sodafountain"})
	failure := testCall.toError(fmt.Errorf("max retries exhausted: failed after 5 attempts: %w", last))
	wantReason(t, failure, ReasonStoreUnavailable, "The store is unavailable.")
}

func TestReasonOf(t *testing.T) {
	stale := &Error{Reason: ReasonStaleEtag}
	for _, one := range []struct {
		err    error
		reason Reason
	}{{nil, ""}, {stale, ReasonStaleEtag}, {fmt.Errorf("seat 2: %w", stale), ReasonStaleEtag}, {errors.New("other"), ReasonUnknown}} {
		if found := ReasonOf(one.err); found != one.reason {
			t.Errorf("%v: %q", one.err, found)
		}
	}
}

func TestErrorsWrapThoseOfTheContext(t *testing.T) {
	for reason, is := range map[Reason][2]bool{
		ReasonCancelled: {true, false}, ReasonDeadlineExceeded: {false, true}, ReasonClientClosed: {}, ReasonUnreachable: {},
	} {
		err := error(&Error{Reason: reason})
		if found := [2]bool{errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded)}; found != is {
			t.Errorf("%s: %v", reason, found)
		}
	}
}

func TestOnlyTransientErrorsAreRetriedByAWatch(t *testing.T) {
	known := func(code codes.Code, reason Reason) *Error { return &Error{Code: code, Reason: reason} }
	for failure, isTransient := range map[*Error]bool{
		known(codes.Unavailable, ReasonStoreUnavailable):      true,
		known(codes.Unavailable, ReasonUnconfirmed):           true,
		known(codes.Unavailable, ReasonDraining):              true,
		known(codes.Unavailable, ReasonUpgrading):             true,
		known(codes.ResourceExhausted, ReasonLimit):           true,
		known(codes.Canceled, ReasonUnreachable):              true,
		known(codes.DeadlineExceeded, ReasonDeadlineExceeded): true,
		known(codes.Aborted, ReasonUnknown):                   true,
		known(codes.Internal, ReasonUnknown):                  true,
		known(codes.Unknown, ReasonUnknown):                   true,
		known(codes.PermissionDenied, ReasonUnknown):          false,
		known(codes.NotFound, ReasonUnknown):                  false,
		known(codes.Internal, ReasonInternal):                 false,
		known(codes.Aborted, ReasonContention):                false,
		known(codes.Unimplemented, ReasonUnimplemented):       false,
		known(codes.NotFound, ReasonGameDeleted):              false,
		known(codes.DataLoss, ReasonCommitmentChanged):        false,
		known(codes.Unauthenticated, ReasonTokenInvalid):      false,
		known(codes.Canceled, ReasonCancelled):                false,
		known(codes.Canceled, ReasonClientClosed):             false,
	} {
		if failure.isTransient() != isTransient {
			t.Errorf("%s %s", failure.Code, failure.Reason)
		}
	}
}
