package sodafountain;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import sodafountain.v1.GameServiceGrpc;

/** How a client's channel behaves: its retries, its signs of life, its name. */
final class Channels {
    static final String VERSION = "0.1.0";
    // With signs of life, the system also gives up a connection whose peer has vanished without a word for the
    // time-out. The interval is the shortest that every gRPC server puts up with.
    private static final long KEEPALIVE_MINUTES = 5;
    private static final long KEEPALIVE_TIMEOUT_SECONDS = 20;

    // While a call's deadline lasts, gRPC sends the very same message again, request id included, after pauses of
    // about 0.2, 0.4, 0.8 and 1.6 s, so that a restart of two seconds passes unnoticed. UNAVAILABLE says "nothing
    // happened, or ask again with the same request id". CANCELLED is what gRPC's servers answer to calls that arrive
    // while they shut down; a call that its own caller cancels is not sent again. Every other code would be answered
    // alike again.
    private static final Map<String, ?> RETRIES = Map.of(
            "methodConfig",
            List.of(
                    // A watch goes on by itself, from what it has told its caller.
                    Map.of("name", List.of(Map.of("service", GameServiceGrpc.SERVICE_NAME, "method", "WatchGame"))),
                    Map.of(
                            "name",
                            List.of(Map.of("service", GameServiceGrpc.SERVICE_NAME)),
                            "retryPolicy",
                            Map.of(
                                    "maxAttempts",
                                    5.0,
                                    "initialBackoff",
                                    "0.2s",
                                    "backoffMultiplier",
                                    2.0,
                                    "maxBackoff",
                                    "2s",
                                    "retryableStatusCodes",
                                    List.of("UNAVAILABLE", "CANCELLED")))));

    private Channels() {}

    /**
     * Credentials that trust the authorities in a PEM file alone.
     *
     * @throws UncheckedIOException if the file cannot be read
     * @throws IllegalArgumentException if there is no certificate in it
     */
    static ChannelCredentials trusting(Path authorities) {
        try {
            byte[] certificates = Files.readAllBytes(authorities);
            // gRPC would find out as well, and speak of providers.
            if (CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(certificates))
                    .isEmpty()) {
                throw new IllegalArgumentException("there is no certificate in " + authorities);
            }
            return TlsChannelCredentials.newBuilder()
                    .trustManager(new ByteArrayInputStream(certificates))
                    .build();
        } catch (CertificateException problem) {
            throw new IllegalArgumentException("there is a certificate in " + authorities + " that is none", problem);
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read the certificates in " + authorities, problem);
        }
    }

    /** Makes a channel to an address that has been checked; it connects with the first call. */
    static ManagedChannel open(String target, ChannelCredentials credentials) {
        // gRPC for Java takes the short form of a DNS name for something else.
        String named = target.startsWith("dns:") && !target.startsWith("dns://")
                ? "dns:///" + target.substring("dns:".length())
                : target;
        return Grpc.newChannelBuilder(named, credentials)
                .userAgent("sodafountain-java/" + VERSION)
                .disableServiceConfigLookUp()
                .defaultServiceConfig(RETRIES)
                .enableRetry()
                .keepAliveTime(KEEPALIVE_MINUTES, TimeUnit.MINUTES)
                .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
                .build();
    }
}
