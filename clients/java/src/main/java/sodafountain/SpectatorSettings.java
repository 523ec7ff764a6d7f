package sodafountain;

import com.google.protobuf.ByteString;
import java.util.Objects;

/** Optional settings of a spectator. */
public final class SpectatorSettings {
    // Null is the default.
    String token;
    ByteString commitment;

    SpectatorSettings() {}

    /**
     * Sets the spectator token, which a private game requires.
     *
     * @param token the token
     * @return these settings
     */
    public SpectatorSettings token(String token) {
        this.token = Objects.requireNonNull(token, "token");
        return this;
    }

    /**
     * Continues with a commitment that an earlier run of the program saved; see {@link Viewer#commitment()}.
     *
     * @param commitment the commitment, 32 bytes
     * @return these settings
     * @throws IllegalArgumentException if it does not have 32 bytes
     */
    public SpectatorSettings commitment(ByteString commitment) {
        this.commitment = Validation.checkedCommitment(commitment);
        return this;
    }
}
