package sodafountain;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.util.JsonFormat;
import io.grpc.Status;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import sodafountain.v1.GameState;
import sodafountain.v1.GameStatus;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.Options;

/** The commitment to the seed of one game. The host and the seats of a new game share it. */
final class Commitment {
    static final int BYTES = 32;
    private static final int SEED_BYTES = 32;
    // The first line of a commitment text.
    private static final String HEADING = "sodafountain.v1";

    private final String gameId;
    // The commitment of the first state, or the caller's. Null before it.
    private ByteString kept;

    /**
     * Creates the commitment of a game.
     *
     * @param saved the commitment that the caller saved, or null
     */
    Commitment(String gameId, ByteString saved) {
        this.gameId = Objects.requireNonNull(gameId, "gameId");
        this.kept = saved;
    }

    String gameId() {
        return gameId;
    }

    synchronized Optional<ByteString> get() {
        return Optional.ofNullable(kept);
    }

    /**
     * Keeps the commitment of the first state, and compares that of every later one.
     *
     * @param requestId the id of the request, or null if it has none
     * @throws SodaFountainException if it has changed
     */
    synchronized void checkState(GameState state, String requestId) {
        ByteString found = state.getSeedCommitment();
        if (kept == null && !found.isEmpty()) {
            kept = found;
        }
        compare(found, requestId);
    }

    /**
     * Checks that a history has this commitment, and that a seed in it is the one that was committed to for this game.
     * Does not keep the commitment of a history.
     *
     * @throws SodaFountainException if it does not match
     */
    synchronized void checkHistory(GetHistoryResponse history) {
        compare(history.getSeedCommitment(), null);
        if (history.getStatus() != GameStatus.GAME_STATUS_FINISHED || history.getSealed()) {
            return;
        }
        if (!sha256(history.getCommitmentTextBytes()).equals(history.getSeedCommitment()) || !isAbout(history)) {
            throw changed("The history of game " + gameId + " does not match its seed commitment.", null);
        }
    }

    private void compare(ByteString found, String requestId) {
        if (kept != null && !kept.equals(found)) {
            throw changed("The seed commitment of game " + gameId + " has changed.", requestId);
        }
    }

    /**
     * Returns whether the commitment text of a history names this game and the facts of the history. A later release may
     * add lines to the text, and fields and values to the options.
     */
    private boolean isAbout(GetHistoryResponse history) {
        String text = history.getCommitmentText();
        if (!text.endsWith("\n")) {
            return false;
        }
        List<String> lines = List.of(text.substring(0, text.length() - 1).split("\n", -1));
        Map<String, String> facts = new HashMap<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] parts = line.split(" ", 2);
            if (facts.put(parts[0], parts.length == 2 ? parts[1] : "") != null) {
                return false;
            }
        }
        return lines.get(0).equals(HEADING)
                && gameId.equals(facts.get("game"))
                && gameId.equals(history.getGameId())
                && String.valueOf(history.getSeatCount()).equals(facts.get("seats"))
                && history.getSeed().size() == SEED_BYTES
                && HexFormat.of().formatHex(history.getSeed().toByteArray()).equals(facts.get("seed"))
                && isJsonOf(facts.getOrDefault("options", ""), history.getOptions());
    }

    private static boolean isJsonOf(String json, Options options) {
        Options.Builder parsed = Options.newBuilder();
        try {
            JsonFormat.parser().ignoringUnknownFields().merge(json, parsed);
        } catch (InvalidProtocolBufferException invalid) {
            return false;
        }
        return known(parsed.build()).equals(known(options));
    }

    /**
     * Returns a message without the fields and enum values of a later release. No options have a list of messages or of
     * enum values.
     */
    private static Message known(Message message) {
        Message.Builder copy = message.toBuilder().setUnknownFields(UnknownFieldSet.getDefaultInstance());
        message.getAllFields().forEach((field, value) -> {
            if (!field.isRepeated() && value instanceof Message part) {
                copy.setField(field, known(part));
            } else if (value instanceof EnumValueDescriptor name && name.getIndex() < 0) {
                copy.clearField(field);
            }
        });
        return copy.build();
    }

    private static ByteString sha256(ByteString text) {
        try {
            return ByteString.copyFrom(MessageDigest.getInstance("SHA-256").digest(text.toByteArray()));
        } catch (NoSuchAlgorithmException impossible) { // every Java platform has it
            throw new IllegalStateException(impossible);
        }
    }

    private static SodaFountainException changed(String message, String requestId) {
        return new SodaFountainException(
                message,
                Reason.COMMITMENT_CHANGED,
                Status.Code.DATA_LOSS,
                SodaFountainException.Details.NONE,
                requestId,
                null);
    }
}
