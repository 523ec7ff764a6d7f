package sodafountain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.Status;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ConnectionErrorsTest {
    private static Throwable tls(Throwable cause) {
        return new SSLHandshakeException("General OpenSslEngine problem").initCause(cause);
    }

    /** Failures with the messages of gRPC and the JDK. */
    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(
                        "io exception",
                        new IOException(
                                "finishConnect(..) failed with error(-111): Connection refused: /127.0.0.1:1",
                                new ConnectException("finishConnect(..) failed with error(-111): Connection refused")),
                        "Connection refused"),
                Arguments.of(
                        "Unable to resolve host nowhere",
                        new UnknownHostException("nowhere: Name or service not known"),
                        "Name or service not known"),
                Arguments.of("io exception", new FileNotFoundException(), "No such file or directory"),
                Arguments.of(
                        "io exception\nChannel Pipeline: [SslHandler#0]",
                        new IOException("not an SSL/TLS record: 0000"),
                        "the TLS handshake failed: the server does not speak TLS"),
                Arguments.of(
                        "io exception\nChannel Pipeline: [SslHandler#0]",
                        tls(new CertificateException(
                                "PKIX path building failed: unable to find valid certification path to requested"
                                        + " target")),
                        "the TLS handshake failed: the server's certificate is not trusted"),
                Arguments.of(
                        "io exception",
                        tls(new CertificateException(
                                "No subject alternative names matching IP address 127.0.0.1 found")),
                        "the TLS handshake failed: the server's certificate is for another host"),
                Arguments.of(
                        "io exception",
                        tls(new CertificateException("NotAfter: Thu Jan 02 00:00:00 UTC 2020")),
                        "the TLS handshake failed: the server's certificate has expired"),
                Arguments.of(
                        "io exception",
                        new SSLHandshakeException("Received fatal alert: certificate_required"),
                        "the TLS handshake failed: Received fatal alert: certificate_required"),
                Arguments.of(
                        "HTTP status code 503\ninvalid content-type: text/html\nheaders: …",
                        null,
                        "HTTP status code 503"),
                Arguments.of("No server.", null, "No server"),
                Arguments.of(null, null, "no details"),
                Arguments.of("io exception", new IOException(), "no details"));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aCauseIsDescribedInAClause(String description, Throwable cause, String clause) {
        Status status = Status.UNAVAILABLE.withDescription(description).withCause(cause);
        assertEquals(clause, ConnectionErrors.describe(status, false));
    }

    @Test
    void onlyTheFirstConnectionSuggestsThatTheServerMayRequireTls() {
        Status status = Status.UNAVAILABLE.withDescription("Network closed for unknown reason");
        assertEquals("the connection was closed; the server may require TLS", ConnectionErrors.describe(status, true));
        assertEquals("the connection was closed", ConnectionErrors.describe(status, false));
    }

    @Test
    void aServerWithAnotherProtocolIsUnreachable() throws IOException, InterruptedException {
        try (ServerSocket web = new ServerSocket(0)) {
            Thread answering = new Thread(() -> {
                try (var caller = web.accept()) {
                    caller.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes());
                    caller.shutdownOutput();
                    caller.getInputStream().readAllBytes();
                } catch (IOException hungUp) {
                    // The client may close the connection.
                }
            });
            answering.start();
            String target = "127.0.0.1:" + web.getLocalPort();
            try (SodaFountain client = SodaFountain.connect(target)) {
                SodaFountainException failure = assertThrows(SodaFountainException.class, client::gameKinds);
                assertEquals(Reason.UNREACHABLE, failure.reason());
                assertEquals(
                        "Cannot reach a Soda Fountain service at " + target + " (the server speaks another protocol).",
                        failure.getMessage());
            }
            answering.join();
        }
    }
}
