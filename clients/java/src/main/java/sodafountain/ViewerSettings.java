package sodafountain;

import com.google.protobuf.ByteString;

/** Optional settings of a seat or a host that is created from a token. */
public final class ViewerSettings {
    // Null before the first state.
    ByteString commitment;

    ViewerSettings() {}

    /**
     * Continues with a commitment that an earlier run of the program saved; see {@link Viewer#commitment()}.
     *
     * @param commitment the commitment, 32 bytes
     * @return these settings
     * @throws IllegalArgumentException if it does not have 32 bytes
     */
    public ViewerSettings commitment(ByteString commitment) {
        this.commitment = Validation.checkedCommitment(commitment);
        return this;
    }
}
