package conformance;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import sodafountain.FieldViolation;
import sodafountain.SodaFountain;
import sodafountain.SodaFountainException;

/** Drives the Java library through the plan of the conformance suite; see clients/conformance/README.md. */
final class Driver {
    private Driver() {}

    /** Goes through the plan whose path is the only argument. */
    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        JsonObject plan =
                JsonParser.parseString(Files.readString(Path.of(arguments[0]))).getAsJsonObject();
        for (JsonElement element : plan.getAsJsonArray("scenarios")) {
            drive(element.getAsJsonObject(), out);
        }
    }

    private static void drive(JsonObject scenario, PrintStream out) {
        JsonArray steps = scenario.getAsJsonArray("steps");
        try (SodaFountain client = connected(scenario.getAsJsonObject("connect"))) {
            ScenarioRunner walk = new ScenarioRunner(client);
            for (int number = 0; number < steps.size(); number++) {
                report(scenario, number, walk.outcome(steps.get(number).getAsJsonObject()), out);
            }
        } catch (SodaFountainException | IllegalArgumentException refusal) {
            for (int number = 0; number < steps.size(); number++) {
                report(scenario, number, told(refusal), out);
            }
        }
    }

    private static SodaFountain connected(JsonObject connect) {
        SodaFountain.Builder builder =
                SodaFountain.builder(connect.get("target").getAsString());
        if (connect.has("timeout")) {
            builder.timeout(duration(connect.get("timeout")));
        }
        if (connect.has("api_key")) {
            builder.apiKey(connect.get("api_key").getAsString());
        }
        if (connect.has("tls")) {
            builder.tls(Path.of(connect.get("tls").getAsString()));
        }
        return builder.connect();
    }

    private static void report(JsonObject scenario, int number, JsonObject outcome, PrintStream out) {
        JsonObject line = new JsonObject();
        line.add("scenario", scenario.get("name"));
        line.addProperty("step", number);
        line.add("outcome", outcome);
        out.println(line);
    }

    /** An error, as the suite wants it told. */
    static JsonObject error(RuntimeException error) {
        JsonObject told = new JsonObject();
        JsonObject metadata = new JsonObject();
        JsonArray fields = new JsonArray();
        told.addProperty("message", error.getMessage());
        told.add("metadata", metadata);
        told.add("fields", fields);
        if (error instanceof SodaFountainException failure) {
            told.addProperty("reason", failure.reason().name());
            told.addProperty("request_id", failure.requestId().isPresent());
            failure.metadata().forEach(metadata::addProperty);
            failure.fieldViolations().stream().map(FieldViolation::field).forEach(fields::add);
        } else {
            told.addProperty("reason", "ARGUMENT");
            told.addProperty("request_id", false);
        }
        JsonObject outcome = new JsonObject();
        outcome.add("error", told);
        return outcome;
    }

    static Duration duration(JsonElement seconds) {
        return Duration.ofNanos(seconds.getAsBigDecimal().movePointRight(9).longValue());
    }
}
