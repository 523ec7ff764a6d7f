import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import sodafountain.Game;
import sodafountain.Seat;
import sodafountain.SodaFountain;
import sodafountain.SodaFountainException;
import sodafountain.v1.GameKindInfo;
import sodafountain.v1.LegalMove;
import sodafountain.v1.Options;
import sodafountain.v1.Player;

/** Plays a game of any kind for all its seats, with random legal moves. The service knows the rules. */
public final class Bot {
    private static final String USAGE = """
            usage: bot [--target ADDRESS] [--kind KIND] [--options JSON] [--seats NUMBER] [--seed NUMBER]
                       [--tls BOOLEAN] [--allow-insecure BOOLEAN]
              --target          the address of the service (default: localhost:50051)
              --kind            the kind of game, such as soda_jerk (default: the first that the service offers)
              --options         the options of the game as JSON, such as {"advanced": true} (default: {})
              --seats           the number of seats (default: the minimum of the game)
              --seed            the seed of the bot's random choices (default: random)
              --tls             whether to use TLS, which a service on another host needs (default: false)
              --allow-insecure  whether to allow a service on another host without TLS (default: false)""";

    /** Runs the bot. */
    public static void main(String[] arguments) {
        Map<String, String> flags = new HashMap<>();
        for (int index = 0; index < arguments.length; index += 2) {
            if (!USAGE.contains("[" + arguments[index] + " ") || index + 1 == arguments.length) {
                System.err.println(USAGE);
                System.exit(2);
            }
            flags.put(arguments[index], arguments[index + 1]);
        }
        try (SodaFountain client = connect(flags)) {
            play(client, flags);
        } catch (SodaFountainException | InvalidProtocolBufferException | IllegalArgumentException problem) {
            System.err.println("bot: " + problem.getMessage());
            System.exit(1);
        }
    }

    private static SodaFountain connect(Map<String, String> flags) {
        SodaFountain.Builder builder = SodaFountain.builder(flags.getOrDefault("--target", "localhost:50051"));
        if (Boolean.parseBoolean(flags.get("--tls"))) {
            builder.tls();
        }
        if (Boolean.parseBoolean(flags.get("--allow-insecure"))) {
            builder.allowInsecure();
        }
        return builder.connect();
    }

    private static void play(SodaFountain client, Map<String, String> flags) throws InvalidProtocolBufferException {
        Map<String, GameKindInfo> kinds = new LinkedHashMap<>();
        client.gameKinds().forEach(kind -> kinds.put(name(kind), kind));
        String name = flags.getOrDefault("--kind", kinds.keySet().iterator().next());
        if (!kinds.containsKey(name)) {
            throw new IllegalArgumentException("--kind must be one of " + kinds.keySet() + ", not " + name);
        }
        Options.Builder options = Options.newBuilder();
        JsonFormat.parser().merge("{\"" + name + "\": " + flags.getOrDefault("--options", "{}") + "}", options);
        int seats = flags.containsKey("--seats")
                ? Integer.parseInt(flags.get("--seats"))
                : kinds.get(name).getMinSeats();
        Random random = flags.containsKey("--seed") ? new Random(Long.parseLong(flags.get("--seed"))) : new Random();
        Game game = client.newGame(options.build(), seats);

        List<Integer> awaiting = game.state().getAwaitingSeatsList();
        while (!awaiting.isEmpty()) {
            Seat seat = game.seat(awaiting.get(random.nextInt(awaiting.size())));
            List<LegalMove> moves = seat.legalMoves().getMovesList();
            LegalMove move = moves.get(random.nextInt(moves.size()));
            awaiting = seat.apply(move).getState().getAwaitingSeatsList();
            System.out.println("Seat " + seat.number().getAsInt() + ": " + move.getLabel());
        }

        var result = game.host().score();
        result.getScoresList()
                .forEach(score -> System.out.println(
                        nameOf(score.getPlayer()) + " has " + score.getTotal() + " points: place " + score.getRank()));
        System.out.println(result.getNote());
    }

    private static String nameOf(Player player) {
        return player.hasSeat() ? "Seat " + player.getSeat() : "The automaton";
    }

    /** Returns the name of the kind, which is the field that its presets set. */
    private static String name(GameKindInfo kind) {
        return kind.getPresets(0).getAllFields().keySet().iterator().next().getName();
    }
}
