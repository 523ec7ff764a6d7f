package sodafountain;

import io.grpc.ConnectivityState;
import io.grpc.ConnectivityStateInfo;
import io.grpc.EquivalentAddressGroup;
import io.grpc.LoadBalancer;
import io.grpc.LoadBalancerProvider;
import io.grpc.Status;
import io.grpc.SynchronizationContext.ScheduledHandle;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Uses one connection, to the first address that answers.
 *
 * <p>A frozen server accepts connections, but never answers. The policy {@code pick_first} of gRPC for Java waits for it
 * without trying the other addresses, unless a flag of the whole process is set. This policy tries the next address after
 * a quarter of a second, as {@code pick_first} does in other languages.
 *
 * <p>All methods run in the synchronization context of the channel.
 */
final class FirstReadyBalancer extends LoadBalancer {
    static final String POLICY = "sodafountain_first_ready";
    private static final long DELAY_MILLIS = 250;

    private final Helper helper;
    private List<EquivalentAddressGroup> addresses = List.of();
    // The connections that are open or being opened; only one once it is ready. Empty while the channel is idle.
    private final List<Subchannel> attempts = new ArrayList<>();
    private final Set<Subchannel> failed = new HashSet<>();
    private boolean isReady;
    private ScheduledHandle nextAttempt;

    /** Creates balancers. */
    static final class Provider extends LoadBalancerProvider {
        @Override
        public boolean isAvailable() {
            return true;
        }

        @Override
        public int getPriority() {
            return 5;
        }

        @Override
        public String getPolicyName() {
            return POLICY;
        }

        @Override
        public LoadBalancer newLoadBalancer(Helper helper) {
            return new FirstReadyBalancer(helper);
        }
    }

    private FirstReadyBalancer(Helper helper) {
        this.helper = helper;
    }

    @Override
    public Status acceptResolvedAddresses(ResolvedAddresses resolved) {
        List<EquivalentAddressGroup> found = resolved.getAddresses().stream()
                .flatMap(group -> group.getAddresses().stream()
                        .map(address -> new EquivalentAddressGroup(address, group.getAttributes())))
                .distinct()
                .toList();
        if (found.isEmpty()) {
            Status problem = Status.UNAVAILABLE.withDescription("the name has no address");
            handleNameResolutionError(problem);
            return problem;
        }
        boolean isFirst = addresses.isEmpty();
        boolean isKept = isReady && found.contains(attempts.get(0).getAddresses());
        boolean isUnchanged = found.equals(addresses);
        addresses = found;
        if (isFirst || (!attempts.isEmpty() && !isKept && !isUnchanged)) {
            disconnect();
            requestConnection();
        }
        return Status.OK;
    }

    @Override
    public void handleNameResolutionError(Status problem) {
        if (!isReady) {
            disconnect();
            addresses = List.of();
            update(ConnectivityState.TRANSIENT_FAILURE, PickResult.withError(problem));
        }
    }

    @Override
    public void requestConnection() {
        if (attempts.isEmpty() && !addresses.isEmpty()) {
            update(ConnectivityState.CONNECTING, PickResult.withNoResult());
            connectToNext();
        }
    }

    @Override
    public void shutdown() {
        disconnect();
    }

    private void connectToNext() {
        cancelNextAttempt();
        CreateSubchannelArgs address = CreateSubchannelArgs.newBuilder()
                .setAddresses(addresses.get(attempts.size()))
                .build();
        Subchannel attempt = helper.createSubchannel(address);
        attempts.add(attempt);
        attempt.start(state -> onState(attempt, state));
        attempt.requestConnection();
        if (attempts.size() < addresses.size()) {
            nextAttempt = helper.getSynchronizationContext()
                    .schedule(
                            this::connectToNext,
                            DELAY_MILLIS,
                            TimeUnit.MILLISECONDS,
                            helper.getScheduledExecutorService());
        }
    }

    private void onState(Subchannel attempt, ConnectivityStateInfo state) {
        if (!attempts.contains(attempt)) {
            return; // it was replaced
        }
        switch (state.getState()) {
            case READY -> use(attempt);
            case TRANSIENT_FAILURE -> onFailure(attempt, state.getStatus());
            case IDLE -> {
                if (isReady) {
                    becomeIdle();
                } else {
                    attempt.requestConnection();
                }
            }
            default -> {} // the channel stays in its state while a failed connection is attempted again
        }
    }

    private void use(Subchannel attempt) {
        attempts.remove(attempt);
        disconnect();
        attempts.add(attempt);
        isReady = true;
        update(ConnectivityState.READY, PickResult.withSubchannel(attempt));
    }

    private void onFailure(Subchannel attempt, Status problem) {
        failed.add(attempt);
        if (attempts.size() < addresses.size()) {
            connectToNext();
        } else if (failed.size() == attempts.size()) {
            helper.refreshNameResolution();
            update(ConnectivityState.TRANSIENT_FAILURE, PickResult.withError(problem));
        }
    }

    /** The connection has ended. The next call connects again. */
    private void becomeIdle() {
        disconnect();
        helper.refreshNameResolution();
        helper.updateBalancingState(ConnectivityState.IDLE, new SubchannelPicker() {
            @Override
            public PickResult pickSubchannel(PickSubchannelArgs call) {
                helper.getSynchronizationContext().execute(FirstReadyBalancer.this::requestConnection);
                return PickResult.withNoResult();
            }
        });
    }

    private void disconnect() {
        cancelNextAttempt();
        attempts.forEach(Subchannel::shutdown);
        attempts.clear();
        failed.clear();
        isReady = false;
    }

    private void cancelNextAttempt() {
        if (nextAttempt != null) {
            nextAttempt.cancel();
            nextAttempt = null;
        }
    }

    private void update(ConnectivityState state, PickResult result) {
        helper.updateBalancingState(state, new SubchannelPicker() {
            @Override
            public PickResult pickSubchannel(PickSubchannelArgs call) {
                return result;
            }
        });
    }
}
