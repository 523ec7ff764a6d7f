package conformance;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import sodafountain.Game;
import sodafountain.Host;
import sodafountain.MoveSettings;
import sodafountain.NewGameSettings;
import sodafountain.Seat;
import sodafountain.SodaFountain;
import sodafountain.SodaFountainException;
import sodafountain.Spectator;
import sodafountain.SpectatorSettings;
import sodafountain.StateSettings;
import sodafountain.Update;
import sodafountain.Viewer;
import sodafountain.Watch;
import sodafountain.WatchSettings;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.GameState;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.HistoryEntry;
import sodafountain.v1.LegalMove;
import sodafountain.v1.LegalMovesResponse;
import sodafountain.v1.Move;
import sodafountain.v1.Options;
import sodafountain.v1.ScoreResponse;
import sodafountain.v1.Visibility;

/** Runs the steps of one scenario. */
final class ScenarioRunner {
    private final SodaFountain client;
    private Game game;
    private Spectator spectator;
    private List<Integer> awaiting = List.of();
    private String lastRequestId;
    private final Map<Viewer, List<LegalMove>> legalMoves = new HashMap<>();
    private final Map<String, Watch> watches = new HashMap<>();
    private final Map<String, Viewer> watchingViewers = new HashMap<>();
    private final Map<String, String> resumeTokens = new HashMap<>();

    ScenarioRunner(SodaFountain client) {
        this.client = client;
    }

    /** Runs a step and returns its outcome. */
    JsonObject run(JsonObject step) {
        try {
            return outcome(step);
        } catch (SodaFountainException failure) {
            failure.requestId().ifPresent(id -> lastRequestId = id);
            return Driver.error(failure);
        } catch (IllegalArgumentException failure) {
            return Driver.error(failure);
        }
    }

    private JsonObject outcome(JsonObject step) {
        return switch (text(step, "do")) {
            case "new_game" -> newGame(step);
            case "game_kinds" -> gameKinds();
            case "state" -> state(step);
            case "legal_moves" -> legalMoves(step);
            case "apply" -> apply(step);
            case "score" -> score(step);
            case "history" -> history(step);
            case "delete" -> {
                ((Host) viewer(step)).delete();
                yield new JsonObject();
            }
            case "play" -> play();
            case "watch" -> watch(step);
            case "next" -> next(step);
            case "close" -> {
                watches.get(text(step, "watch")).close();
                yield new JsonObject();
            }
            case "close_client" -> {
                client.close();
                yield new JsonObject();
            }
            default -> throw new IllegalStateException("unknown step: " + step);
        };
    }

    private JsonObject newGame(JsonObject step) {
        Options options = (Options) parse(step.get("options"), Options.newBuilder());
        Consumer<NewGameSettings> settings = with -> {
            if (step.has("seed")) {
                with.seed(ByteString.copyFrom(Base64.getDecoder().decode(text(step, "seed"))));
            }
            if (isTrue(step, "sealed")) {
                with.sealed();
            }
            if (step.has("visibility")) {
                with.visibility(Visibility.valueOf(text(step, "visibility")));
            }
            if (step.has("request_id")) {
                with.requestId(requestId(step));
            }
            if (step.has("timeout")) {
                with.timeout(Driver.duration(step.get("timeout")));
            }
        };
        game = client.newGame(options, step.get("seats").getAsInt(), settings);
        spectator = client.spectator(game.id(), this::spectatorToken);
        awaiting = game.state().getAwaitingSeatsList();
        JsonObject outcome = summary(game.state().getVersion(), awaiting);
        outcome.addProperty("seats", game.seats().size());
        return outcome;
    }

    private JsonObject gameKinds() {
        JsonArray kinds = new JsonArray();
        client.gameKinds().forEach(kind -> kinds.add(kind.getTitle()));
        JsonObject outcome = new JsonObject();
        outcome.add("kinds", kinds);
        return outcome;
    }

    private JsonObject state(JsonObject step) {
        Consumer<StateSettings> settings = with -> {
            if (isTrue(step, "legal_moves")) {
                with.legalMoves();
            }
        };
        Viewer viewer = viewer(step);
        GameState state;
        if (viewer instanceof Host host) {
            state = step.has("seat") ? host.state(seat(step), settings) : host.state(settings);
        } else {
            state = viewer instanceof Seat seat ? seat.state(settings) : ((Spectator) viewer).state(settings);
        }
        legalMoves.put(viewer, state.getLegalMovesList());
        awaiting = state.getAwaitingSeatsList();
        JsonObject outcome = summary(state.getVersion(), awaiting);
        outcome.addProperty("moves", state.getLegalMovesCount());
        outcome.add("viewer", JsonNull.INSTANCE);
        if (state.hasViewerSeat()) {
            outcome.addProperty("viewer", state.getViewerSeat());
        }
        return outcome;
    }

    private JsonObject legalMoves(JsonObject step) {
        Viewer viewer = viewer(step);
        LegalMovesResponse legal =
                viewer instanceof Host host ? host.legalMoves(seat(step)) : ((Seat) viewer).legalMoves();
        legalMoves.put(viewer, legal.getMovesList());
        JsonObject outcome = summary(legal.getVersion(), legal.getAwaitingSeatsList());
        outcome.addProperty("moves", legal.getMovesCount());
        outcome.addProperty("prompt", legal.getPrompt());
        return outcome;
    }

    private JsonObject apply(JsonObject step) {
        Viewer viewer = viewer(step);
        JsonElement given = step.get("move");
        Message move = given.isJsonObject()
                ? parse(given, Move.newBuilder())
                : legalMoves.get(viewer).get(given.getAsInt());
        Consumer<MoveSettings> settings = with -> {
            if (step.has("etag")) {
                with.etag(text(step, "etag"));
            }
            if (isTrue(step, "legal_moves")) {
                with.legalMoves();
            }
            if (step.has("request_id")) {
                with.requestId(requestId(step));
            }
            if (step.has("timeout")) {
                with.timeout(Driver.duration(step.get("timeout")));
            }
        };
        ApplyMoveResponse response = viewer instanceof Host host
                ? host.apply(seat(step), move, settings)
                : ((Seat) viewer).apply(move, settings);
        legalMoves.put(viewer, response.getState().getLegalMovesList());
        awaiting = response.getState().getAwaitingSeatsList();
        JsonObject outcome = summary(response.getState().getVersion(), awaiting);
        outcome.addProperty("committed", response.getCommittedVersion());
        outcome.addProperty("repeated", response.getRepeatedRequest());
        outcome.addProperty("events", response.getEventsCount());
        return outcome;
    }

    private JsonObject score(JsonObject step) {
        ScoreResponse score = viewer(step).score();
        JsonObject outcome = new JsonObject();
        outcome.addProperty("version", score.getVersion());
        outcome.addProperty("finished", score.getFinished());
        outcome.addProperty("note", score.getNote());
        return outcome;
    }

    private JsonObject history(JsonObject step) {
        Viewer viewer = viewer(step);
        GetHistoryResponse history = step.has("seat") ? ((Host) viewer).history(seat(step)) : viewer.history();
        JsonObject outcome = new JsonObject();
        outcome.addProperty("entries", history.getEntriesCount());
        outcome.addProperty(
                "moves",
                history.getEntriesList().stream().filter(HistoryEntry::hasMove).count());
        outcome.addProperty("status", history.getStatus().name());
        outcome.addProperty("seats", history.getSeatCount());
        return outcome;
    }

    private JsonObject play() {
        int moves = 0;
        long version = 0;
        while (!awaiting.isEmpty()) {
            Seat seat = game.seat(awaiting.get(0));
            GameState state = seat.apply(seat.legalMoves().getMoves(0)).getState();
            awaiting = state.getAwaitingSeatsList();
            version = state.getVersion();
            moves++;
        }
        JsonObject outcome = new JsonObject();
        outcome.addProperty("moves", moves);
        outcome.addProperty("version", version);
        return outcome;
    }

    private JsonObject watch(JsonObject step) {
        Consumer<WatchSettings> settings = with -> {
            if (isTrue(step, "legal_moves")) {
                with.legalMoves();
            }
            if (step.has("resume")) {
                with.resumeToken(resumeTokens.get(text(step, "resume")));
            }
            if (step.has("idle_timeout") && step.get("idle_timeout").isJsonNull()) {
                with.noIdleTimeout();
            } else if (step.has("idle_timeout")) {
                with.idleTimeout(Driver.duration(step.get("idle_timeout")));
            }
        };
        Viewer viewer = viewer(step);
        Watch watch;
        if (viewer instanceof Host host) {
            watch = step.has("seat") ? host.watch(seat(step), settings) : host.watch(settings);
        } else {
            watch = viewer instanceof Seat seat ? seat.watch(settings) : ((Spectator) viewer).watch(settings);
        }
        watches.put(text(step, "name"), watch);
        watchingViewers.put(text(step, "name"), viewer);
        return new JsonObject();
    }

    private JsonObject next(JsonObject step) {
        String name = text(step, "watch");
        Iterator<Update> iterator = watches.get(name).iterator();
        int count = step.get("count").getAsInt();
        JsonArray updates = new JsonArray();
        while (updates.size() < count && iterator.hasNext()) {
            Update update = iterator.next();
            resumeTokens.put(name, update.resumeToken());
            legalMoves.put(watchingViewers.get(name), update.state().getLegalMovesList());
            JsonObject entry = new JsonObject();
            entry.addProperty("version", update.state().getVersion());
            entry.addProperty("events", update.events().size());
            entry.addProperty("snapshot", update.isSnapshot());
            entry.addProperty("moves", update.state().getLegalMovesCount());
            updates.add(entry);
        }
        JsonObject outcome = new JsonObject();
        outcome.add("updates", updates);
        outcome.addProperty("over", updates.size() < count);
        return outcome;
    }

    /** Returns the viewer of a step: the same object for the same `as` until the next new game. */
    private Viewer viewer(JsonObject step) {
        String caller = text(step, "as");
        if (step.has("token") || step.has("game")) {
            String id = step.has("game") ? text(step, "game") : game.id();
            if (caller.equals("spectator")) {
                return client.spectator(id, with -> {
                    if (step.has("token")) {
                        with.token(text(step, "token"));
                    }
                });
            }
            String token = step.has("token") ? text(step, "token") : "no-token";
            return caller.equals("host") ? client.host(id, token) : client.seat(id, token);
        }
        if (isTrue(step, "without_token")) {
            return client.spectator(game.id());
        }
        return isTrue(step, "restored") ? restored(caller) : kept(caller);
    }

    /** Sets the spectator token if the game is private; a public game needs none. */
    private void spectatorToken(SpectatorSettings with) {
        if (game.state().getVisibility() == Visibility.VISIBILITY_PRIVATE) {
            with.token(game.spectatorToken());
        }
    }

    /** Returns a viewer as an app creates it after a restart: with the commitment that it has saved. */
    private Viewer restored(String caller) {
        ByteString saved = kept(caller).commitment().orElseThrow();
        return switch (caller) {
            case "spectator" -> client.spectator(game.id(), with -> spectatorToken(with.commitment(saved)));
            case "host" -> client.host(game.id(), game.hostToken(), with -> with.commitment(saved));
            default -> client.seat(game.id(), game.seatTokens().get(number(caller)), with -> with.commitment(saved));
        };
    }

    private Viewer kept(String caller) {
        return switch (caller) {
            case "spectator" -> spectator;
            case "host" -> game.host();
            default -> game.seat(number(caller));
        };
    }

    private static int number(String caller) {
        return Integer.parseInt(caller.substring("seat ".length()));
    }

    private String requestId(JsonObject step) {
        String given = text(step, "request_id");
        return given.equals("again") ? lastRequestId : given;
    }

    private static JsonObject summary(long version, List<Integer> awaiting) {
        JsonArray seats = new JsonArray();
        awaiting.forEach(seats::add);
        JsonObject outcome = new JsonObject();
        outcome.addProperty("version", version);
        outcome.add("awaiting", seats);
        return outcome;
    }

    private static Message parse(JsonElement json, Message.Builder message) {
        try {
            JsonFormat.parser().merge(json.toString(), message);
        } catch (InvalidProtocolBufferException problem) {
            throw new IllegalStateException("the plan has an invalid message: " + json, problem);
        }
        return message.build();
    }

    private static boolean isTrue(JsonObject step, String name) {
        return step.has(name) && step.get(name).getAsBoolean();
    }

    private static int seat(JsonObject step) {
        return step.get("seat").getAsInt();
    }

    private static String text(JsonObject step, String name) {
        return step.get(name).getAsString();
    }
}
