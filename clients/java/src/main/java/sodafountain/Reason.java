package sodafountain;

/**
 * The reason why a call failed. Programs switch on it.
 *
 * <p>The first constants are the reasons of the service, with the names in the contract; {@code
 * sodafountain.v1.ErrorReason} documents the metadata of each. The client itself creates the others.
 */
public enum Reason {
    /** The request is malformed. {@link SodaFountainException#fieldViolations()} names the invalid fields. */
    MALFORMED,
    /** The rules do not allow this move now. */
    ILLEGAL_MOVE,
    /** The seat has no open decision. */
    NOT_YOUR_TURN,
    /** The game is over. */
    GAME_FINISHED,
    /** The move answers a decision that is no longer open. Get the legal moves and choose again. */
    STALE_ETAG,
    /** Other moves of the same game won every race until the deadline. Retry. */
    CONTENTION,
    /** The request id was used before for another request. Use a new one. */
    REQUEST_ID_REUSED,
    /**
     * The token is missing, malformed, forged, or signed with a key that is no longer accepted. The client throws it
     * before any call if the token is malformed.
     */
    TOKEN_INVALID,
    /** The token is valid, but not for this game, seat or call. */
    WRONG_SEAT,
    /** The game does not exist, has expired or was deleted. */
    GAME_NOT_FOUND,
    /**
     * Every retry reached a server that cannot read the game, because another release of the service stored it. Nothing
     * changed. Retry later.
     */
    UPGRADING,
    /** A limit is reached: of the size of a request, of calls, of games or of storage. */
    LIMIT,
    /** The service cannot reach its store. Nothing changed. */
    STORE_UNAVAILABLE,
    /** It is unknown whether the change was stored. Retry with the request id of the exception. */
    UNCONFIRMED,
    /**
     * Creating games requires an API key, and the key is missing or unknown. The client throws it before any call if the
     * key is malformed.
     */
    API_KEY_INVALID,
    /** The server does not offer the call or the kind of game. */
    UNIMPLEMENTED,
    /** A bug in the service. Report the {@code call_id} of the metadata to the operator. */
    INTERNAL,
    /** Every retry reached a server that was shutting down. Nothing changed. Retry later. */
    DRAINING,

    /** No service answered at the target, after all retries. It is unknown whether a change happened. */
    UNREACHABLE,
    /** The deadline passed without a response. It is unknown whether a change happened. */
    DEADLINE_EXCEEDED,
    /** The client was closed before or during the call. If during, it is unknown whether a change happened. */
    CLIENT_CLOSED,
    /** The thread was interrupted and its interrupt status is set. It is unknown whether a change happened. */
    INTERRUPTED,
    /**
     * A state or history does not match the commitment to the seed: the deal of the game may have been replaced. Do not
     * trust it. After {@code apply}, the move may have been stored.
     */
    COMMITMENT_CHANGED,
    /** The game was deleted during the watch. */
    GAME_DELETED,
    /** The game expired during the watch: no seat moved for as long as the operator keeps idle games. */
    GAME_EXPIRED,
    /** The reason is missing, or this release does not have it. Use {@link SodaFountainException#code()}. */
    UNKNOWN
}
