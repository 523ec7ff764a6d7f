package conformance;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.grpc.TlsChannelCredentials;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import sodafountain.FieldViolation;
import sodafountain.SodaFountain;
import sodafountain.SodaFountainException;

/** Runs a plan of the conformance suite with the Java client; see clients/conformance/README.md. */
final class Driver {
    private Driver() {}

    /** Runs the plan whose path is the only argument. */
    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        JsonObject plan =
                JsonParser.parseString(Files.readString(Path.of(arguments[0]))).getAsJsonObject();
        for (JsonElement element : plan.getAsJsonArray("scenarios")) {
            run(element.getAsJsonObject(), out);
        }
    }

    private static void run(JsonObject scenario, PrintStream out) throws IOException {
        JsonArray steps = scenario.getAsJsonArray("steps");
        try (SodaFountain client = connect(scenario.getAsJsonObject("connect"))) {
            ScenarioRunner runner = new ScenarioRunner(client);
            for (int number = 0; number < steps.size(); number++) {
                report(scenario, number, runner.run(steps.get(number).getAsJsonObject()), out);
            }
        } catch (SodaFountainException | IllegalArgumentException failure) {
            for (int number = 0; number < steps.size(); number++) {
                report(scenario, number, error(failure), out);
            }
        }
    }

    private static SodaFountain connect(JsonObject settings) throws IOException {
        SodaFountain.Builder builder =
                SodaFountain.builder(settings.get("target").getAsString());
        if (settings.has("timeout")) {
            builder.timeout(duration(settings.get("timeout")));
        }
        if (settings.has("api_key")) {
            builder.apiKey(settings.get("api_key").getAsString());
        }
        if (settings.has("certificate")) {
            builder.tls(TlsChannelCredentials.newBuilder()
                    .trustManager(file(settings, "tls"))
                    .keyManager(file(settings, "certificate"), file(settings, "key"))
                    .build());
        } else if (settings.has("tls")) {
            builder.tls(file(settings, "tls").toPath());
        }
        if (settings.has("allow_insecure")) {
            builder.allowInsecure();
        }
        return builder.connect();
    }

    private static File file(JsonObject settings, String name) {
        return new File(settings.get(name).getAsString());
    }

    private static void report(JsonObject scenario, int number, JsonObject outcome, PrintStream out) {
        JsonObject line = new JsonObject();
        line.add("scenario", scenario.get("name"));
        line.addProperty("step", number);
        line.add("outcome", outcome);
        out.println(line);
    }

    /** Returns the outcome of a step that failed. */
    static JsonObject error(RuntimeException failure) {
        JsonObject error = new JsonObject();
        JsonObject metadata = new JsonObject();
        JsonArray fields = new JsonArray();
        error.addProperty("message", failure.getMessage());
        error.add("metadata", metadata);
        error.add("fields", fields);
        if (failure instanceof SodaFountainException callFailure) {
            error.addProperty("reason", callFailure.reason().name());
            error.addProperty("request_id", callFailure.requestId().isPresent());
            callFailure.metadata().forEach(metadata::addProperty);
            callFailure.fieldViolations().stream().map(FieldViolation::field).forEach(fields::add);
        } else {
            error.addProperty("reason", "ARGUMENT");
            error.addProperty("request_id", false);
        }
        JsonObject outcome = new JsonObject();
        outcome.add("error", error);
        return outcome;
    }

    static Duration duration(JsonElement seconds) {
        return Duration.ofNanos(seconds.getAsBigDecimal().movePointRight(9).longValue());
    }
}
