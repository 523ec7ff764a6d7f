package sodafountain;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;
import java.util.stream.Collectors;
import sodafountain.v1.LegalMove;
import sodafountain.v1.Move;
import sodafountain.v1.Options;

/** Puts a kind's own message into what all games share, by descriptor: no game is known here. */
final class Envelopes {
    private static final String GAME = "game";

    private Envelopes() {}

    /**
     * Makes {@code Options} of an {@code Options} or of a kind's options message.
     *
     * @throws IllegalArgumentException if it is neither
     */
    static Options asOptions(Message options) {
        return options instanceof Options whole
                ? whole
                : (Options) wrapped(options, Options.newBuilder()).build();
    }

    /**
     * Makes a {@code Move} of a {@code LegalMove}, a {@code Move} or a kind's move message.
     *
     * @throws IllegalArgumentException if it is none of them
     */
    static Move asMove(Message move) {
        if (move instanceof LegalMove legal) {
            return legal.getMove();
        }
        return move instanceof Move whole
                ? whole
                : (Move) wrapped(move, Move.newBuilder()).build();
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
