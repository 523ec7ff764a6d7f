package sodafountain

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

func TestCausesOfRealServersAreDescribed(t *testing.T) {
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	defer web.Close()
	plainWeb := httptest.NewServer(http.NotFoundHandler())
	defer plainWeb.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(web.Certificate())
	trust := func(name string) *tls.Config { return &tls.Config{RootCAs: trusted, ServerName: name} }

	grpcServer := serveOn(t, grpc.NewServer().Serve)
	certified := credentials.NewTLS(&tls.Config{Certificates: web.TLS.Certificates})
	tlsServer := serveOn(t, grpc.NewServer(grpc.Creds(certified)).Serve)
	http10Server := serveOn(t, speaksHTTP10)
	const handshake = "the TLS handshake failed: "
	for _, one := range []struct {
		target string
		tls    *tls.Config
		cause  string
	}{
		{"127.0.0.1:1", nil, "connection refused"},
		{"127.0.0.1:1", &tls.Config{}, "connection refused"},
		{"localhost:1", nil, "last tried *: connection refused"},
		{"unix:" + t.TempDir() + "/none", nil, "no such file or directory"},
		{tlsServer, nil, "the server closed the connection: *; the server may require TLS"},
		{grpcServer, &tls.Config{}, handshake + "the server does not speak TLS"},
		{tlsServer, &tls.Config{}, handshake + "the server's certificate is not trusted: certificate signed by unknown authority"},
		{tlsServer, trust("games.example"), handshake + "the server's certificate is for another host: valid for *, not games.example"},
		{web.Listener.Addr().String(), trust(""), handshake + "the server does not speak HTTP/2"},
		{http10Server, nil, "the server speaks another protocol than HTTP/2"},
		{plainWeb.Listener.Addr().String(), nil, "the server speaks another protocol: HTTP/1.1"},
	} {
		client, err := connect(one.target, connectSettings{tls: one.tls, timeout: defaultTimeout}, grpc.WithDisableRetry())
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.GameKinds(t.Context())
		_ = client.Close()
		over := ""
		if one.tls != nil {
			over = " over TLS"
		}
		before, after, _ := strings.Cut("Cannot reach a Soda Fountain service at "+one.target+over+" ("+one.cause+").", "*")
		message := err.Error()
		if ReasonOf(err) != ReasonUnreachable || !strings.HasPrefix(message, before) || !strings.HasSuffix(message, after) {
			t.Errorf("got %s\nwant %s*%s", message, before, after)
		}
	}
}

func TestCausesInMessagesAreDescribed(t *testing.T) {
	const broken, dialed = "read tcp 10.0.0.1:5->10.0.0.2:6: read: connection reset by peer", "10.0.0.2:6: i/o timeout"
	connecting := func(cause string) string { return fmt.Sprintf("connection error: desc = %q", cause) }
	for details, cause := range map[string]string{
		"":                            "no details",
		".":                           "no details",
		"The store is\n unavailable.": "The store is unavailable",
		"name resolver error: produced zero addresses":                                                                                                   "no such host",
		"name resolver error: dns: A record lookup error: lookup games.example on 10.0.0.2:53: server misbehaving":                                       "server misbehaving",
		"error reading from server: EOF":                                                                                                                 "the connection broke: EOF",
		"write tcp 10.0.0.1:5->10.0.0.2:6: write: broken pipe":                                                                                           "the connection broke: broken pipe",
		"closing transport due to: " + connecting("error reading from server: "+broken) + ", received prior goaway":                                      "the connection broke: connection reset by peer",
		connecting("error reading server preface: http2: frame too large"):                                                                               "the server speaks another protocol than HTTP/2",
		connecting("initial http2 frame from server is not a settings frame: *http2.PingFrame"):                                                          "the server speaks another protocol than HTTP/2",
		connecting("error reading from server: http2: failed reading the frame payload: EOF, note that the frame header looked like an HTTP/1.1 header"): "the server speaks another protocol: HTTP/1.1",
		connecting("transport: Error while dialing: dial tcp " + dialed):                                                                                 "last tried " + dialed,
		connecting("transport: authentication handshake failed: EOF"):                                                                                    "the TLS handshake failed: EOF",
	} {
		if found := describeCause(details, "games.example:443", true); found != cause {
			t.Errorf("%s\ngot %s\nwant %s", details, found, cause)
		}
	}
}

// speaksHTTP10 responds to every connection in HTTP/1.0.
func speaksHTTP10(listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		_, _ = connection.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\n"))
		// Closing before everything is read would reset the connection and lose the response.
		_, _ = io.Copy(io.Discard, connection)
		_ = connection.Close()
	}
}

// serveOn serves on a free port until the end of the test, and returns its address.
func serveOn(t *testing.T, serve func(net.Listener) error) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = serve(listener)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return listener.Addr().String()
}
