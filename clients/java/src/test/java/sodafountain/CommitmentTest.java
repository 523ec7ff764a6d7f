package sodafountain;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sodafountain.v1.ApplyMoveRequest;
import sodafountain.v1.ApplyMoveResponse;
import sodafountain.v1.Flavor;
import sodafountain.v1.GameStatus;
import sodafountain.v1.GetGameResponse;
import sodafountain.v1.GetHistoryRequest;
import sodafountain.v1.GetHistoryResponse;
import sodafountain.v1.HistoryEntry;
import sodafountain.v1.NewGameRequest;
import sodafountain.v1.Options;
import sodafountain.v1.SodaJerkMove;
import sodafountain.v1.SodaJerkOptions;
import sodafountain.v1.Visibility;
import sodafountain.v1.WatchGameResponse;
import sodafountain.v1.WatchUpdate;

/** Tests the commitment to the seed: what is kept, what is compared, and what a history must prove. */
@Timeout(30)
class CommitmentTest {
    private static final String GAME = ScriptedService.GAME;
    private static final ByteString FIRST = ScriptedService.COMMITMENT;
    private static final ByteString OTHER = ByteString.copyFrom(new byte[] {1}).concat(FIRST.substring(1));
    private static final ByteString SEED = ByteString.copyFrom(new byte[32]);
    private static final String HEX = "00".repeat(32);
    private static final String TEXT = "sodafountain.v1\ngame " + GAME
            + "\nseats 2\noptions {\"sodaJerk\":{\"advanced\":true}}\nseed " + HEX + "\n";
    private static final Options OPTIONS = Options.newBuilder()
            .setSodaJerk(SodaJerkOptions.newBuilder().setAdvanced(true))
            .build();

    private final ScriptedService service = new ScriptedService();
    private final SodaFountain client = service.client();
    private final Seat seat = client.seat(GAME, ScriptedService.SEAT_TOKEN);

    @AfterEach
    void close() {
        client.close();
        service.close();
    }

    private static GetGameResponse state(ByteString commitment) {
        return GetGameResponse.newBuilder()
                .setState(ScriptedService.state(1).toBuilder().setSeedCommitment(commitment))
                .build();
    }

    private static ByteString sha256(String text) throws Exception {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        return ByteString.copyFrom(hash);
    }

    private static GetHistoryResponse.Builder revealed(String text) throws Exception {
        return GetHistoryResponse.newBuilder()
                .setGameId(GAME)
                .setOptions(OPTIONS)
                .setSeatCount(2)
                .setStatus(GameStatus.GAME_STATUS_FINISHED)
                .setSeed(SEED)
                .setCommitmentText(text)
                .setSeedCommitment(sha256(text));
    }

    private static SodaFountainException assertChanged(Executable call) {
        SodaFountainException failure = assertThrows(SodaFountainException.class, call);
        assertEquals(Reason.COMMITMENT_CHANGED, failure.reason());
        assertEquals(Status.Code.DATA_LOSS, failure.code());
        return failure;
    }

    // --- States ------------------------------------------------------------------------------------------------------

    @Test
    void theFirstStateIsKeptAndEveryOtherIsCompared() {
        assertEquals(Optional.empty(), seat.commitment());
        seat.state();
        assertEquals(Optional.of(FIRST), seat.commitment());
        for (ByteString wrong : new ByteString[] {OTHER, ByteString.EMPTY}) {
            service.thenAnswer(state(wrong));
            SodaFountainException failure = assertChanged(seat::state);
            assertEquals("The seed commitment of game " + GAME + " has changed.", failure.getMessage());
            assertEquals(Optional.empty(), failure.requestId());
        }
        assertEquals(Optional.of(FIRST), seat.commitment());
        seat.state();
    }

    @Test
    void aStateWithoutACommitmentIsNotKept() {
        service.thenAnswer(state(ByteString.EMPTY));
        seat.state();
        assertEquals(Optional.empty(), seat.commitment());
    }

    @Test
    void aMoveWhoseResponseHasAnotherCommitmentKeepsItsRequestId() throws InterruptedException {
        seat.state();
        service.requests.clear();
        service.thenAnswer(ApplyMoveResponse.newBuilder()
                .setState(ScriptedService.state(2).toBuilder().setSeedCommitment(OTHER))
                .build());
        SodaFountainException failure = assertChanged(() -> seat.apply(SodaJerkMove.getDefaultInstance()));
        assertEquals(Optional.of(((ApplyMoveRequest) service.request()).getRequestId()), failure.requestId());
    }

    @Test
    void aRejectedStateOpensNoDecision() throws InterruptedException {
        seat.state();
        service.thenAnswer(GetGameResponse.newBuilder()
                .setState(ScriptedService.state(5).toBuilder().setSeedCommitment(OTHER))
                .build());
        assertChanged(seat::state);
        service.requests.clear();
        seat.apply(SodaJerkMove.getDefaultInstance());
        assertEquals("etag 1", ((ApplyMoveRequest) service.request()).getEtag());
    }

    @Test
    void aMoveWhoseResponseHasNoStateIsAnError() {
        seat.state();
        service.thenAnswer(ApplyMoveResponse.getDefaultInstance());
        assertChanged(() -> seat.apply(SodaJerkMove.getDefaultInstance()));
    }

    @Test
    void aWatchComparesWhatFollowsTheLastChange() {
        WatchGameResponse last = WatchGameResponse.newBuilder()
                .setSnapshot(ScriptedService.finished(1))
                .build();
        WatchGameResponse replaced = WatchGameResponse.newBuilder()
                .setUpdate(WatchUpdate.newBuilder()
                        .setState(ScriptedService.finished(2).toBuilder().setSeedCommitment(OTHER)))
                .build();
        service.thenAnswer(last, replaced);
        try (Watch watch = seat.watch()) {
            Iterator<Update> updates = watch.iterator();
            assertEquals(1, updates.next().state().getVersion());
            assertChanged(updates::hasNext);
        }
        assertEquals(1, service.requests.size()); // the watch does not retry
    }

    @Test
    void aWatchComparesItsFirstStateWithTheSavedCommitment() {
        Seat restored = client.seat(GAME, ScriptedService.SEAT_TOKEN, with -> with.commitment(OTHER));
        service.thenHang(ScriptedService.snapshot(1));
        try (Watch watch = restored.watch()) {
            assertChanged(watch.iterator()::hasNext);
        }
        assertTrue(restored.number().isEmpty());
    }

    @Test
    void aWatchEndsWithASnapshotOrUpdateThatHasAnotherCommitment() {
        WatchGameResponse snapshot = WatchGameResponse.newBuilder()
                .setSnapshot(ScriptedService.state(1).toBuilder().setSeedCommitment(OTHER))
                .build();
        WatchGameResponse update = WatchGameResponse.newBuilder()
                .setUpdate(WatchUpdate.newBuilder()
                        .setState(ScriptedService.state(2).toBuilder().setSeedCommitment(OTHER)))
                .build();
        for (WatchGameResponse wrong : new WatchGameResponse[] {snapshot, update}) {
            service.thenHang(ScriptedService.snapshot(1), wrong);
            try (Watch watch = seat.watch()) {
                Iterator<Update> updates = watch.iterator();
                updates.next();
                assertChanged(updates::hasNext);
                assertFalse(updates.hasNext());
            }
        }
        assertEquals(Optional.of(FIRST), seat.commitment());
    }

    @Test
    void theHostAndTheSeatsOfANewGameShareItsCommitment() {
        Game game = client.newGame(OPTIONS, 2);
        assertEquals(FIRST, game.commitment());
        assertEquals(Optional.of(FIRST), game.host().commitment());
        assertEquals(Optional.of(FIRST), game.seat(0).commitment());
        service.thenAnswer(state(OTHER));
        assertChanged(game.seat(0)::state);
        service.thenAnswer(state(OTHER));
        assertChanged(() -> game.host().state(0));
    }

    @Test
    void aSavedCommitmentIsComparedWithTheFirstState() {
        Viewer[] viewers = {
            client.seat(GAME, ScriptedService.SEAT_TOKEN, with -> with.commitment(OTHER)),
            client.host(GAME, ScriptedService.HOST_TOKEN, with -> with.commitment(OTHER)),
            client.spectator(GAME, with -> with.commitment(OTHER))
        };
        for (Viewer viewer : viewers) {
            assertEquals(Optional.of(OTHER), viewer.commitment());
            assertChanged(viewer::history);
        }
        assertChanged(((Seat) viewers[0])::state);
        assertChanged(((Host) viewers[1])::state);
        assertChanged(((Spectator) viewers[2])::state);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 31, 33, 64})
    void aSavedCommitmentMustHave32Bytes(int length) {
        ByteString wrong = ByteString.copyFrom(new byte[length]);
        for (Executable call : new Executable[] {
            () -> client.seat(GAME, "token", with -> with.commitment(wrong)),
            () -> client.host(GAME, "token", with -> with.commitment(wrong)),
            () -> client.spectator(GAME, with -> with.commitment(wrong))
        }) {
            IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, call);
            assertEquals("commitment must have 32 bytes, not " + length, failure.getMessage());
        }
    }

    // --- Histories ---------------------------------------------------------------------------------------------------

    @Test
    void aHistoryOfAnotherCommitmentIsRejectedAndOfNoneIsNotKept() {
        service.thenAnswer(
                GetHistoryResponse.newBuilder().setSeedCommitment(OTHER).build());
        seat.history();
        assertEquals(Optional.empty(), seat.commitment());
        seat.state();
        service.thenAnswer(
                GetHistoryResponse.newBuilder().setSeedCommitment(OTHER).build());
        assertEquals(
                "The seed commitment of game " + GAME + " has changed.",
                assertChanged(seat::history).getMessage());
    }

    private void assertMatches(boolean matches, GetHistoryResponse.Builder history) {
        service.thenAnswer(history.build());
        if (matches) {
            assertDoesNotThrow(() -> seat.history());
            return;
        }
        assertEquals(
                "The history of game " + GAME + " does not match its seed commitment.",
                assertChanged(seat::history).getMessage());
    }

    @Test
    void aRevealedSeedMustBeTheOneThatWasCommittedTo() throws Exception {
        assertMatches(true, revealed(TEXT));
        assertMatches(false, revealed(TEXT).setSeedCommitment(FIRST));
        assertMatches(false, revealed(TEXT).setSeed(SEED.substring(1)));
        assertMatches(false, revealed(TEXT).setSeed(OTHER));
        assertMatches(false, revealed(TEXT).setGameId("another"));
        assertMatches(false, revealed(TEXT).setSeatCount(3));
        assertMatches(false, revealed(TEXT).setOptions(Options.getDefaultInstance()));
        assertMatches(false, revealed(TEXT).clearOptions());
        assertMatches(false, revealed(TEXT).setCommitmentText(""));
        assertMatches(true, revealed(TEXT).setSealed(true).clearCommitmentText());
        assertMatches(
                true, revealed(TEXT).setStatus(GameStatus.GAME_STATUS_ACTIVE).clearCommitmentText());
    }

    @Test
    void aRevealedSeedMustHave32BytesEvenIfTheTextNamesIt() throws Exception {
        for (ByteString seed :
                new ByteString[] {SEED.substring(1), SEED.concat(SEED.substring(31)), ByteString.EMPTY}) {
            String hex = HexFormat.of().formatHex(seed.toByteArray());
            assertMatches(
                    false, revealed(TEXT.replaceFirst("seed .*", "seed " + hex)).setSeed(seed));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "sodafountain.v1, sodafountain.v2",
        "'seats 2', 'seats 02'",
        "'seats 2', 'seats 3'",
        "'seats 2', 'seats 2\nseats 2'",
        "'seats 2\n', ''",
        "true, false",
        "'{\"sodaJerk\":{\"advanced\":true}}', '{'",
        "'options {\"sodaJerk\":{\"advanced\":true}}\n', ''",
        "'game ', 'game x'",
        "'game ', 'game  '",
        "seed 00, seed 01",
        "'{\"sodaJerk\":{\"advanced\":true}}', 'null'",
        "'{\"sodaJerk\":{\"advanced\":true}}', '[]'",
        "'{\"sodaJerk\":{\"advanced\":true}}', '{\"sodaJerk\":1}'",
        "'{\"sodaJerk\":{\"advanced\":true}}', '{\"sodaJerk\":{\"advanced\":\"yes\"}}'",
        "'options ', 'options [\"sodaJerk\"], '",
    })
    void aTextAboutAnythingElseDoesNotMatch(String part, String changed) throws Exception {
        assertTrue(TEXT.contains(part));
        assertMatches(
                false, revealed(TEXT.replaceFirst(java.util.regex.Pattern.quote(part), changed.replace("\\", ""))));
    }

    @Test
    void aTextWithoutItsLastLineFeedDoesNotMatch() throws Exception {
        assertMatches(false, revealed(TEXT.substring(0, TEXT.length() - 1)));
        assertMatches(false, revealed(TEXT + "\n\n"));
    }

    @Test
    void aTextWithOtherLineEndsDoesNotMatch() throws Exception {
        assertMatches(false, revealed(TEXT.replace("\n", "\r\n")));
    }

    @Test
    void aSeedInUpperCaseDoesNotMatch() throws Exception {
        ByteString seed = ByteString.copyFrom(HexFormat.of().parseHex("ab".repeat(32)));
        assertMatches(true, revealed(TEXT.replace(HEX, "ab".repeat(32))).setSeed(seed));
        assertMatches(false, revealed(TEXT.replace(HEX, "AB".repeat(32))).setSeed(seed));
    }

    @Test
    void aHistoryOfAnotherGameDoesNotMatch() throws Exception {
        assertMatches(false, revealed(TEXT.replace(GAME, "another")).setGameId("another"));
    }

    @Test
    void neitherTextNorHistoryMayLackTheOptions() throws Exception {
        assertMatches(false, revealed(TEXT.replaceFirst("options .*\n", "")).clearOptions());
    }

    @Test
    void valuesAndKindsOfALaterReleaseAreIgnored() throws Exception {
        Options flavor = Options.newBuilder()
                .setSodaJerk(SodaJerkOptions.newBuilder().setRemovedFlavorValue(99))
                .build();
        Options kind = Options.newBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                99,
                                UnknownFieldSet.Field.newBuilder()
                                        .addLengthDelimited(ByteString.EMPTY)
                                        .build())
                        .build())
                .build();
        String text = TEXT.replaceFirst("options .*", "options ");
        for (String json : new String[] {
            "{\"sodaJerk\":{\"removedFlavor\":99}}", "{\"sodaJerk\":{\"removedFlavor\":\"FLAVOR_MINT\"}}"
        }) {
            assertMatches(
                    true, revealed(text.replace("options ", "options " + json)).setOptions(flavor));
        }
        assertMatches(
                true,
                revealed(text.replace("options ", "options {\"lemonade\":{}}")).setOptions(kind));
    }

    // The comparison of options of a later release depends on it.
    @Test
    void noOptionsHaveAMapOrAListOfMessagesOrEnumValues() {
        assertTrue(checkedFields(Options.getDescriptor()) >= 8);
    }

    /** Checks the fields of a message and of its parts, and returns their number. */
    private static int checkedFields(Descriptor message) {
        int checked = 0;
        for (FieldDescriptor field : message.getFields()) {
            boolean isPlain = field.getJavaType() != JavaType.MESSAGE && field.getJavaType() != JavaType.ENUM;
            assertTrue(isPlain || !field.isRepeated(), field::getFullName);
            checked += 1 + (field.getJavaType() == JavaType.MESSAGE ? checkedFields(field.getMessageType()) : 0);
        }
        return checked;
    }

    @Test
    void whatALaterReleaseAddsIsIgnored() throws Exception {
        assertMatches(true, revealed(TEXT + "entropy 00\n"));
        UnaryOperator<String> withField = text -> text.replace("{\"advanced\"", "{\"later\":[1],\"advanced\"");
        SodaJerkOptions later = OPTIONS.getSodaJerk().toBuilder()
                .setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                99,
                                UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                        .build())
                .setRemovedFlavorValue(77)
                .build();
        assertMatches(
                true,
                revealed(withField.apply(TEXT)).setOptions(Options.newBuilder().setSodaJerk(later)));
        SodaJerkOptions another = OPTIONS.getSodaJerk().toBuilder()
                .setRemovedFlavor(Flavor.FLAVOR_KIWI)
                .build();
        assertMatches(false, revealed(TEXT).setOptions(Options.newBuilder().setSodaJerk(another)));
    }

    @Test
    void aHistoryInPagesHasTheFactsOfTheFirstAndIsCheckedAsAWhole() throws Exception {
        HistoryEntry entry = HistoryEntry.getDefaultInstance();
        service.thenAnswer(revealed(TEXT)
                .setStatus(GameStatus.GAME_STATUS_ACTIVE)
                .addEntries(entry)
                .setNextPageToken("2")
                .build());
        service.thenAnswer(revealed(TEXT).addEntries(entry).addEntries(entry).build());
        GetHistoryResponse history = seat.history();
        assertEquals(3, history.getEntriesCount());
        assertEquals(GameStatus.GAME_STATUS_ACTIVE, history.getStatus());
        assertEquals("", history.getNextPageToken());
    }

    @Test
    void aHostNamesTheSeatWhoseHistoryItWants() throws InterruptedException {
        Host host = client.host(GAME, ScriptedService.HOST_TOKEN);
        host.history(1);
        GetHistoryRequest ofSeat = (GetHistoryRequest) service.request();
        assertTrue(ofSeat.hasSeat());
        assertEquals(1, ofSeat.getSeat());
        host.history();
        assertFalse(((GetHistoryRequest) service.request()).hasSeat());
        seat.history();
        assertFalse(((GetHistoryRequest) service.request()).hasSeat());
    }

    // --- Private games -----------------------------------------------------------------------------------------------

    @Test
    void aNewGameIsSentWithItsVisibility() throws InterruptedException {
        Game game = client.newGame(OPTIONS, 2, with -> with.visibility(Visibility.VISIBILITY_PRIVATE));
        assertEquals(Visibility.VISIBILITY_PRIVATE, ((NewGameRequest) service.request()).getVisibility());
        assertEquals(ScriptedService.SPECTATOR_TOKEN, game.spectatorToken());
        assertFalse(game.toString().contains(ScriptedService.SPECTATOR_TOKEN));
        client.newGame(OPTIONS, 2);
        assertEquals(Visibility.VISIBILITY_UNSPECIFIED, ((NewGameRequest) service.request()).getVisibility());
    }

    @Test
    void aSpectatorTokenIsCheckedLikeTheOthers() {
        SodaFountainException failure =
                assertThrows(SodaFountainException.class, () -> client.spectator(GAME, with -> with.token("a b")));
        assertEquals(Reason.TOKEN_INVALID, failure.reason());
    }
}
