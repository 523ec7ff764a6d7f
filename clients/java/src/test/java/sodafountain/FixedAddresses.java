package sodafountain;

import io.grpc.EquivalentAddressGroup;
import io.grpc.InsecureChannelCredentials;
import io.grpc.Metadata;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.StatusOr;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Resolves targets such as {@code fixed:///127.0.0.1:1,127.0.0.1:2}. */
final class FixedAddresses extends NameResolverProvider {
    static {
        NameResolverRegistry.getDefaultRegistry().register(new FixedAddresses());
    }

    /** Returns a client of a service with several addresses, such as {@code 127.0.0.1:1}. */
    static SodaFountain client(List<String> addresses) {
        String target = "fixed:///" + String.join(",", addresses);
        return new SodaFountain(
                new Connection(
                        target,
                        false,
                        Duration.ofSeconds(5),
                        () -> Channels.open(target, InsecureChannelCredentials.create())),
                new Metadata());
    }

    @Override
    protected boolean isAvailable() {
        return true;
    }

    @Override
    protected int priority() {
        return 5;
    }

    @Override
    public String getDefaultScheme() {
        return "fixed";
    }

    @Override
    public NameResolver newNameResolver(URI target, NameResolver.Args settings) {
        List<EquivalentAddressGroup> addresses = Stream.of(
                        target.getPath().substring(1).split(","))
                .map(address -> URI.create("fixed://" + address))
                .map(address -> new EquivalentAddressGroup(new InetSocketAddress(address.getHost(), address.getPort())))
                .toList();
        return new NameResolver() {
            @Override
            public String getServiceAuthority() {
                return "fixed";
            }

            @Override
            public void start(Listener2 listener) {
                listener.onResult(ResolutionResult.newBuilder()
                        .setAddressesOrError(StatusOr.fromValue(addresses))
                        .build());
            }

            @Override
            public void shutdown() {}
        };
    }
}
