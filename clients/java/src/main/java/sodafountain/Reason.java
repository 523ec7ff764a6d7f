package sodafountain;

/**
 * Why a call failed: a value to switch on.
 *
 * <p>The first ones are the reasons that the service gives, under the names that travel; {@code
 * sodafountain.v1.ErrorReason} documents the metadata that comes with each. The others are the client's own.
 */
public enum Reason {
    /** The request is not well formed; {@link SodaFountainException#fieldViolations()} names the fields. */
    MALFORMED,
    /** The rules forbid this move now. */
    ILLEGAL_MOVE,
    /** Nothing is awaited from this seat now. */
    NOT_YOUR_TURN,
    /** The game is over. */
    GAME_FINISHED,
    /** The move answers another decision than the one open now: look again and choose again. */
    STALE_ETAG,
    /** Other moves of the same game won every race until the deadline: try again. */
    CONTENTION,
    /** The request id was used before for something else: draw a new one. */
    REQUEST_ID_REUSED,
    /**
     * The token is missing, malformed, forged, or signed with a key that is no longer accepted. Thrown before any call
     * where no token looks like that.
     */
    TOKEN_INVALID,
    /** The token is good, but not for this game or seat, or the call is the host's alone. */
    WRONG_SEAT,
    /** There is no such game: it never was, has expired or was deleted. */
    GAME_NOT_FOUND,
    /** That is shown only after the end of the game. */
    NOT_FINISHED,
    /** A limit was hit: a request too large, too many at once, the store full. */
    LIMIT,
    /** The service cannot reach its store; nothing was changed. */
    STORE_UNAVAILABLE,
    /** Whether the change was stored is not known: send the same again with the error's request id. */
    UNCONFIRMED,
    /**
     * Creating games needs an API key, and none or an unknown one was sent. Thrown before any call where no key looks
     * like that.
     */
    API_KEY_INVALID,
    /** The server does not offer the call or the kind of game. */
    UNIMPLEMENTED,
    /** A defect of the service; its operator finds the details under the metadata's {@code call_id}. */
    INTERNAL,
    /** The server is going away, after every retry; nothing was changed. The same may be asked again. */
    DRAINING,

    /** No service answers at the address, after every retry. Whether a change was made is not known. */
    UNREACHABLE,
    /** No answer came in time. Whether a change was made is not known. */
    DEADLINE_EXCEEDED,
    /** The client was closed before the call, or under it: then whether a change was made is not known. */
    CLIENT_CLOSED,
    /** The calling thread was interrupted, and still is. Whether a change was made is not known. */
    INTERRUPTED,
    /** The game was deleted while it was watched. */
    GAME_DELETED,
    /** The game expired while it was watched: nothing had happened in it for as long as the operator keeps games. */
    GAME_EXPIRED,
    /** A reason that this release does not know, or none: go by {@link SodaFountainException#code()}. */
    UNKNOWN
}
