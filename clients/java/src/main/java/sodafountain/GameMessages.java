package sodafountain;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import sodafountain.v1.LegalMove;
import sodafountain.v1.Move;
import sodafountain.v1.Options;

/**
 * Wraps a kind's own message in {@code Options} or {@code Move}.
 *
 * <p>It finds the field by descriptor, so a new kind needs no change here.
 */
final class GameMessages {
    private static final String ONEOF = "game";

    private GameMessages() {}

    /**
     * Converts {@code Options} or a kind's options message to {@code Options}.
     *
     * @throws IllegalArgumentException if it is another message, or empty {@code Options}
     */
    static Options toOptions(Message options) {
        Objects.requireNonNull(options, "options");
        return options instanceof Options whole
                ? nonEmpty(whole, "options is empty: set the options of one game kind")
                : (Options) wrapped(options, Options.newBuilder()).build();
    }

    /**
     * Converts a {@code LegalMove}, a {@code Move} or a kind's move message to a {@code Move}.
     *
     * @throws IllegalArgumentException if it is another message, or contains no move
     */
    static Move toMove(Message move) {
        Objects.requireNonNull(move, "move");
        if (move instanceof LegalMove legal) {
            return nonEmpty(legal.getMove(), "move is a LegalMove without a move");
        }
        return move instanceof Move whole
                ? nonEmpty(whole, "move is empty: set the move of one game kind")
                : (Move) wrapped(move, Move.newBuilder()).build();
    }

    /** Returns a message that has a game, which may be one that this release does not know. */
    private static <T extends Message> T nonEmpty(T envelope, String problem) {
        if (envelope.getSerializedSize() == 0) {
            throw new IllegalArgumentException(problem);
        }
        return envelope;
    }

    /** Sets the field of the envelope's {@code oneof game} that has the type of the message. */
    private static Message.Builder wrapped(Message message, Message.Builder envelope) {
        List<FieldDescriptor> games = envelope.getDescriptorForType().getOneofs().stream()
                .filter(oneof -> oneof.getName().equals(ONEOF))
                .flatMap(oneof -> oneof.getFields().stream())
                .toList();
        for (FieldDescriptor game : games) {
            if (game.getMessageType().equals(message.getDescriptorForType())) {
                return envelope.setField(game, message);
            }
        }
        String expected = envelope.getDescriptorForType().getName();
        String known =
                games.stream().map(game -> game.getMessageType().getName()).collect(Collectors.joining(", "));
        throw new IllegalArgumentException(expected.toLowerCase(Locale.ROOT) + " must be " + expected + " or one of "
                + known + ", not " + message.getDescriptorForType().getName());
    }
}
