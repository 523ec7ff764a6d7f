package sodafountain;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.LoadBalancerRegistry;
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

/** Creates the gRPC channel of a client, with its retries and keepalive. */
final class Channels {
    static final String VERSION = "0.1.0";
    // Keepalive closes a connection whose server does not answer, also between calls. gRPC has no shorter interval; see
    // ReplaceableChannel. The service allows these pings; if another server rejects them, gRPC sends fewer.
    private static final long KEEPALIVE_SECONDS = 10;
    private static final long KEEPALIVE_TIMEOUT_SECONDS = 2;

    // Until a call's deadline, gRPC retries it after about 0.2, 0.4, 0.8 and 1.6 s, which covers a restart of two
    // seconds. The message and its request id stay the same, so a retry is safe. UNAVAILABLE means that nothing
    // happened or that a retry with the same request id is needed. gRPC servers answer CANCELLED to calls that arrive
    // during their shutdown; a call that its own caller cancels is not retried. A retry does not change other codes.
    private static final Map<String, ?> RETRIES = Map.of(
            "methodConfig",
            List.of(
                    // A watch resumes after the last update that its caller received.
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

    static {
        LoadBalancerRegistry.getDefaultRegistry().register(new FirstReadyBalancer.Provider());
    }

    private Channels() {}

    /**
     * Returns credentials that trust only the certificate authorities in a PEM file.
     *
     * @throws UncheckedIOException if the file cannot be read
     * @throws IllegalArgumentException if the file contains no valid certificate
     */
    static ChannelCredentials trustOnly(Path authorities) {
        try {
            byte[] certificates = Files.readAllBytes(authorities);
            // gRPC reports a file without certificates too, but its message does not name the file.
            if (CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(certificates))
                    .isEmpty()) {
                throw new IllegalArgumentException("no certificate found in " + authorities);
            }
            return TlsChannelCredentials.newBuilder()
                    .trustManager(new ByteArrayInputStream(certificates))
                    .build();
        } catch (CertificateException problem) {
            throw new IllegalArgumentException("invalid certificate in " + authorities, problem);
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read the certificates in " + authorities, problem);
        }
    }

    /** Creates a channel to a valid target. It connects on the first call. */
    static ManagedChannel open(String target, ChannelCredentials credentials) {
        // gRPC for Java does not parse the short form dns:host:port.
        String named = target.startsWith("dns:") && !target.startsWith("dns://")
                ? "dns:///" + target.substring("dns:".length())
                : target;
        return Grpc.newChannelBuilder(named, credentials)
                .userAgent("sodafountain-java/" + VERSION)
                .disableServiceConfigLookUp()
                .defaultServiceConfig(RETRIES)
                .enableRetry()
                .defaultLoadBalancingPolicy(FirstReadyBalancer.POLICY)
                .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
                .keepAliveWithoutCalls(true)
                .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
                .build();
    }
}
