package sodafountain;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import sodafountain.v1.LegalMove;
import sodafountain.v1.Move;
import sodafountain.v1.Options;

/** Puts a kind's own message into what all games share, by descriptor: no game is known here. */
final class GameMessages {
    private static final String GAME = "game";

    private GameMessages() {}

    /**
     * Makes {@code Options} of an {@code Options} or of a kind's options message.
     *
     * @throws IllegalArgumentException if it is neither, or empty
     */
    static Options toOptions(Message options) {
        Objects.requireNonNull(options, "options");
        return options instanceof Options whole
                ? configured(whole, "The options are empty: they name no game")
                : (Options) wrapped(options, Options.newBuilder()).build();
    }

    /**
     * Makes a {@code Move} of a {@code LegalMove}, a {@code Move} or a kind's move message.
     *
     * @throws IllegalArgumentException if it is none of them, or empty
     */
    static Move toMove(Message move) {
        Objects.requireNonNull(move, "move");
        if (move instanceof LegalMove legal) {
            return configured(legal.getMove(), "The legal move has no move in it");
        }
        return move instanceof Move whole
                ? configured(whole, "The move is empty: it is a move of no game")
                : (Move) wrapped(move, Move.newBuilder()).build();
    }

    /** Returns what has a game in it, even one that this release does not know. */
    private static <T extends Message> T configured(T envelope, String problem) {
        if (envelope.getSerializedSize() == 0) {
            throw new IllegalArgumentException(problem + ".");
        }
        return envelope;
    }

    /** Puts a message into the field of the envelope's {@code oneof game} that takes it. */
    private static Message.Builder wrapped(Message message, Message.Builder envelope) {
        List<FieldDescriptor> games = envelope.getDescriptorForType().getOneofs().stream()
                .filter(oneof -> oneof.getName().equals(GAME))
                .flatMap(oneof -> oneof.getFields().stream())
                .toList();
        for (FieldDescriptor game : games) {
            if (game.getMessageType().equals(message.getDescriptorForType())) {
                return envelope.setField(game, message);
            }
        }
        String known =
                games.stream().map(game -> game.getMessageType().getName()).collect(Collectors.joining(", "));
        throw new IllegalArgumentException(message.getDescriptorForType().getName() + " is no "
                + envelope.getDescriptorForType().getName() + ": give one, or one of " + known);
    }
}
