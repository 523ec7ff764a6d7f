"""The reasons of the service's errors, as an enum with readable names."""

from enum import IntEnum

from sodafountain.v1 import errors_pb2 as pb


class Reason(IntEnum):
    """Why the service rejected a call. The members equal the values of `ErrorReason`.

    The names are those of `google.rpc.ErrorInfo.reason`. `sodafountain.v1.errors_pb2.ErrorReason` documents each reason
    and its metadata.
    """

    MALFORMED = pb.ERROR_REASON_MALFORMED
    ILLEGAL_MOVE = pb.ERROR_REASON_ILLEGAL_MOVE
    NOT_YOUR_TURN = pb.ERROR_REASON_NOT_YOUR_TURN
    GAME_FINISHED = pb.ERROR_REASON_GAME_FINISHED
    STALE_ETAG = pb.ERROR_REASON_STALE_ETAG
    CONTENTION = pb.ERROR_REASON_CONTENTION
    REQUEST_ID_REUSED = pb.ERROR_REASON_REQUEST_ID_REUSED
    TOKEN_INVALID = pb.ERROR_REASON_TOKEN_INVALID
    WRONG_SEAT = pb.ERROR_REASON_WRONG_SEAT
    GAME_NOT_FOUND = pb.ERROR_REASON_GAME_NOT_FOUND
    UPGRADING = pb.ERROR_REASON_UPGRADING
    LIMIT = pb.ERROR_REASON_LIMIT
    STORE_UNAVAILABLE = pb.ERROR_REASON_STORE_UNAVAILABLE
    UNCONFIRMED = pb.ERROR_REASON_UNCONFIRMED
    API_KEY_INVALID = pb.ERROR_REASON_API_KEY_INVALID
    UNIMPLEMENTED = pb.ERROR_REASON_UNIMPLEMENTED
    INTERNAL = pb.ERROR_REASON_INTERNAL
    DRAINING = pb.ERROR_REASON_DRAINING

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    # Identical to int's. Defined here so that type checkers allow a comparison with the values of `ErrorReason`.
    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    __hash__ = int.__hash__
