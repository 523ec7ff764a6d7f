package sodafountain.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Plays tabletop games by their full rules.
 * Who calls is told by the metadata `authorization: Bearer &lt;token&gt;` with a token from NewGame: a seat token acts and looks
 * for its seat, a host token for every seat of its game. Without a token the caller is a spectator. Errors are described
 * with ErrorReason.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class GameServiceGrpc {

  private GameServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "sodafountain.v1.GameService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.NewGameRequest,
      sodafountain.v1.NewGameResponse> getNewGameMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "NewGame",
      requestType = sodafountain.v1.NewGameRequest.class,
      responseType = sodafountain.v1.NewGameResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.NewGameRequest,
      sodafountain.v1.NewGameResponse> getNewGameMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.NewGameRequest, sodafountain.v1.NewGameResponse> getNewGameMethod;
    if ((getNewGameMethod = GameServiceGrpc.getNewGameMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getNewGameMethod = GameServiceGrpc.getNewGameMethod) == null) {
          GameServiceGrpc.getNewGameMethod = getNewGameMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.NewGameRequest, sodafountain.v1.NewGameResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "NewGame"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.NewGameRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.NewGameResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("NewGame"))
              .build();
        }
      }
    }
    return getNewGameMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.LegalMovesRequest,
      sodafountain.v1.LegalMovesResponse> getLegalMovesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "LegalMoves",
      requestType = sodafountain.v1.LegalMovesRequest.class,
      responseType = sodafountain.v1.LegalMovesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.LegalMovesRequest,
      sodafountain.v1.LegalMovesResponse> getLegalMovesMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.LegalMovesRequest, sodafountain.v1.LegalMovesResponse> getLegalMovesMethod;
    if ((getLegalMovesMethod = GameServiceGrpc.getLegalMovesMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getLegalMovesMethod = GameServiceGrpc.getLegalMovesMethod) == null) {
          GameServiceGrpc.getLegalMovesMethod = getLegalMovesMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.LegalMovesRequest, sodafountain.v1.LegalMovesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "LegalMoves"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.LegalMovesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.LegalMovesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("LegalMoves"))
              .build();
        }
      }
    }
    return getLegalMovesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.ApplyMoveRequest,
      sodafountain.v1.ApplyMoveResponse> getApplyMoveMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ApplyMove",
      requestType = sodafountain.v1.ApplyMoveRequest.class,
      responseType = sodafountain.v1.ApplyMoveResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.ApplyMoveRequest,
      sodafountain.v1.ApplyMoveResponse> getApplyMoveMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.ApplyMoveRequest, sodafountain.v1.ApplyMoveResponse> getApplyMoveMethod;
    if ((getApplyMoveMethod = GameServiceGrpc.getApplyMoveMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getApplyMoveMethod = GameServiceGrpc.getApplyMoveMethod) == null) {
          GameServiceGrpc.getApplyMoveMethod = getApplyMoveMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.ApplyMoveRequest, sodafountain.v1.ApplyMoveResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ApplyMove"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.ApplyMoveRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.ApplyMoveResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("ApplyMove"))
              .build();
        }
      }
    }
    return getApplyMoveMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.ScoreRequest,
      sodafountain.v1.ScoreResponse> getScoreMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Score",
      requestType = sodafountain.v1.ScoreRequest.class,
      responseType = sodafountain.v1.ScoreResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.ScoreRequest,
      sodafountain.v1.ScoreResponse> getScoreMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.ScoreRequest, sodafountain.v1.ScoreResponse> getScoreMethod;
    if ((getScoreMethod = GameServiceGrpc.getScoreMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getScoreMethod = GameServiceGrpc.getScoreMethod) == null) {
          GameServiceGrpc.getScoreMethod = getScoreMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.ScoreRequest, sodafountain.v1.ScoreResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Score"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.ScoreRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.ScoreResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("Score"))
              .build();
        }
      }
    }
    return getScoreMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.GetGameRequest,
      sodafountain.v1.GetGameResponse> getGetGameMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetGame",
      requestType = sodafountain.v1.GetGameRequest.class,
      responseType = sodafountain.v1.GetGameResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.GetGameRequest,
      sodafountain.v1.GetGameResponse> getGetGameMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.GetGameRequest, sodafountain.v1.GetGameResponse> getGetGameMethod;
    if ((getGetGameMethod = GameServiceGrpc.getGetGameMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getGetGameMethod = GameServiceGrpc.getGetGameMethod) == null) {
          GameServiceGrpc.getGetGameMethod = getGetGameMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.GetGameRequest, sodafountain.v1.GetGameResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetGame"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.GetGameRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.GetGameResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("GetGame"))
              .build();
        }
      }
    }
    return getGetGameMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.WatchGameRequest,
      sodafountain.v1.WatchGameResponse> getWatchGameMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchGame",
      requestType = sodafountain.v1.WatchGameRequest.class,
      responseType = sodafountain.v1.WatchGameResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<sodafountain.v1.WatchGameRequest,
      sodafountain.v1.WatchGameResponse> getWatchGameMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.WatchGameRequest, sodafountain.v1.WatchGameResponse> getWatchGameMethod;
    if ((getWatchGameMethod = GameServiceGrpc.getWatchGameMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getWatchGameMethod = GameServiceGrpc.getWatchGameMethod) == null) {
          GameServiceGrpc.getWatchGameMethod = getWatchGameMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.WatchGameRequest, sodafountain.v1.WatchGameResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchGame"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.WatchGameRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.WatchGameResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("WatchGame"))
              .build();
        }
      }
    }
    return getWatchGameMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.GetHistoryRequest,
      sodafountain.v1.GetHistoryResponse> getGetHistoryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetHistory",
      requestType = sodafountain.v1.GetHistoryRequest.class,
      responseType = sodafountain.v1.GetHistoryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.GetHistoryRequest,
      sodafountain.v1.GetHistoryResponse> getGetHistoryMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.GetHistoryRequest, sodafountain.v1.GetHistoryResponse> getGetHistoryMethod;
    if ((getGetHistoryMethod = GameServiceGrpc.getGetHistoryMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getGetHistoryMethod = GameServiceGrpc.getGetHistoryMethod) == null) {
          GameServiceGrpc.getGetHistoryMethod = getGetHistoryMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.GetHistoryRequest, sodafountain.v1.GetHistoryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetHistory"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.GetHistoryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.GetHistoryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("GetHistory"))
              .build();
        }
      }
    }
    return getGetHistoryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.ListGameKindsRequest,
      sodafountain.v1.ListGameKindsResponse> getListGameKindsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListGameKinds",
      requestType = sodafountain.v1.ListGameKindsRequest.class,
      responseType = sodafountain.v1.ListGameKindsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.ListGameKindsRequest,
      sodafountain.v1.ListGameKindsResponse> getListGameKindsMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.ListGameKindsRequest, sodafountain.v1.ListGameKindsResponse> getListGameKindsMethod;
    if ((getListGameKindsMethod = GameServiceGrpc.getListGameKindsMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getListGameKindsMethod = GameServiceGrpc.getListGameKindsMethod) == null) {
          GameServiceGrpc.getListGameKindsMethod = getListGameKindsMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.ListGameKindsRequest, sodafountain.v1.ListGameKindsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListGameKinds"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.ListGameKindsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.ListGameKindsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("ListGameKinds"))
              .build();
        }
      }
    }
    return getListGameKindsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<sodafountain.v1.DeleteGameRequest,
      sodafountain.v1.DeleteGameResponse> getDeleteGameMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteGame",
      requestType = sodafountain.v1.DeleteGameRequest.class,
      responseType = sodafountain.v1.DeleteGameResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<sodafountain.v1.DeleteGameRequest,
      sodafountain.v1.DeleteGameResponse> getDeleteGameMethod() {
    io.grpc.MethodDescriptor<sodafountain.v1.DeleteGameRequest, sodafountain.v1.DeleteGameResponse> getDeleteGameMethod;
    if ((getDeleteGameMethod = GameServiceGrpc.getDeleteGameMethod) == null) {
      synchronized (GameServiceGrpc.class) {
        if ((getDeleteGameMethod = GameServiceGrpc.getDeleteGameMethod) == null) {
          GameServiceGrpc.getDeleteGameMethod = getDeleteGameMethod =
              io.grpc.MethodDescriptor.<sodafountain.v1.DeleteGameRequest, sodafountain.v1.DeleteGameResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteGame"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.DeleteGameRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  sodafountain.v1.DeleteGameResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GameServiceMethodDescriptorSupplier("DeleteGame"))
              .build();
        }
      }
    }
    return getDeleteGameMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static GameServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GameServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GameServiceStub>() {
        @java.lang.Override
        public GameServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GameServiceStub(channel, callOptions);
        }
      };
    return GameServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static GameServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GameServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GameServiceBlockingV2Stub>() {
        @java.lang.Override
        public GameServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GameServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return GameServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static GameServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GameServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GameServiceBlockingStub>() {
        @java.lang.Override
        public GameServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GameServiceBlockingStub(channel, callOptions);
        }
      };
    return GameServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static GameServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GameServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GameServiceFutureStub>() {
        @java.lang.Override
        public GameServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GameServiceFutureStub(channel, callOptions);
        }
      };
    return GameServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Plays tabletop games by their full rules.
   * Who calls is told by the metadata `authorization: Bearer &lt;token&gt;` with a token from NewGame: a seat token acts and looks
   * for its seat, a host token for every seat of its game. Without a token the caller is a spectator. Errors are described
   * with ErrorReason.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Makes a game and deals it. Where the operator closed it, the metadata `x-api-key` is needed. Where the operator set
     * quotas, an API key that has as many games as it may have is refused with LIMIT; a retry is answered all the same.
     * </pre>
     */
    default void newGame(sodafountain.v1.NewGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.NewGameResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getNewGameMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists every move that the rules allow a seat now, each exactly once.
     * </pre>
     */
    default void legalMoves(sodafountain.v1.LegalMovesRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.LegalMovesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getLegalMovesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Makes a move of one seat. A retry with the same request id changes nothing more.
     * </pre>
     */
    default void applyMove(sodafountain.v1.ApplyMoveRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.ApplyMoveResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getApplyMoveMethod(), responseObserver);
    }

    /**
     * <pre>
     * Tells the standings by public facts, the same for every caller; at the end the result.
     * </pre>
     */
    default void score(sodafountain.v1.ScoreRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.ScoreResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getScoreMethod(), responseObserver);
    }

    /**
     * <pre>
     * Shows the game as a seat or a spectator may see it.
     * </pre>
     */
    default void getGame(sodafountain.v1.GetGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.GetGameResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetGameMethod(), responseObserver);
    }

    /**
     * <pre>
     * Follows a game: first a snapshot, then every version's events once and in order, with the newest state. Goes on
     * after a cut with the resume token of the last message, at any server. The last message tells why a stream ends.
     * </pre>
     */
    default void watchGame(sodafountain.v1.WatchGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.WatchGameResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchGameMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reveals a finished game: options, seed, every move and event, so that anybody can replay and check it.
     * </pre>
     */
    default void getHistory(sodafountain.v1.GetHistoryRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.GetHistoryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetHistoryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the kinds of game on offer with their options.
     * </pre>
     */
    default void listGameKinds(sodafountain.v1.ListGameKindsRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.ListGameKindsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListGameKindsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a game for good. The host's alone.
     * </pre>
     */
    default void deleteGame(sodafountain.v1.DeleteGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.DeleteGameResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteGameMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service GameService.
   * <pre>
   * Plays tabletop games by their full rules.
   * Who calls is told by the metadata `authorization: Bearer &lt;token&gt;` with a token from NewGame: a seat token acts and looks
   * for its seat, a host token for every seat of its game. Without a token the caller is a spectator. Errors are described
   * with ErrorReason.
   * </pre>
   */
  public static abstract class GameServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return GameServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service GameService.
   * <pre>
   * Plays tabletop games by their full rules.
   * Who calls is told by the metadata `authorization: Bearer &lt;token&gt;` with a token from NewGame: a seat token acts and looks
   * for its seat, a host token for every seat of its game. Without a token the caller is a spectator. Errors are described
   * with ErrorReason.
   * </pre>
   */
  public static final class GameServiceStub
      extends io.grpc.stub.AbstractAsyncStub<GameServiceStub> {
    private GameServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GameServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GameServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a game and deals it. Where the operator closed it, the metadata `x-api-key` is needed. Where the operator set
     * quotas, an API key that has as many games as it may have is refused with LIMIT; a retry is answered all the same.
     * </pre>
     */
    public void newGame(sodafountain.v1.NewGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.NewGameResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getNewGameMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists every move that the rules allow a seat now, each exactly once.
     * </pre>
     */
    public void legalMoves(sodafountain.v1.LegalMovesRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.LegalMovesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getLegalMovesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Makes a move of one seat. A retry with the same request id changes nothing more.
     * </pre>
     */
    public void applyMove(sodafountain.v1.ApplyMoveRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.ApplyMoveResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getApplyMoveMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Tells the standings by public facts, the same for every caller; at the end the result.
     * </pre>
     */
    public void score(sodafountain.v1.ScoreRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.ScoreResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getScoreMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Shows the game as a seat or a spectator may see it.
     * </pre>
     */
    public void getGame(sodafountain.v1.GetGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.GetGameResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetGameMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Follows a game: first a snapshot, then every version's events once and in order, with the newest state. Goes on
     * after a cut with the resume token of the last message, at any server. The last message tells why a stream ends.
     * </pre>
     */
    public void watchGame(sodafountain.v1.WatchGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.WatchGameResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchGameMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reveals a finished game: options, seed, every move and event, so that anybody can replay and check it.
     * </pre>
     */
    public void getHistory(sodafountain.v1.GetHistoryRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.GetHistoryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetHistoryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the kinds of game on offer with their options.
     * </pre>
     */
    public void listGameKinds(sodafountain.v1.ListGameKindsRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.ListGameKindsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListGameKindsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a game for good. The host's alone.
     * </pre>
     */
    public void deleteGame(sodafountain.v1.DeleteGameRequest request,
        io.grpc.stub.StreamObserver<sodafountain.v1.DeleteGameResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteGameMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service GameService.
   * <pre>
   * Plays tabletop games by their full rules.
   * Who calls is told by the metadata `authorization: Bearer &lt;token&gt;` with a token from NewGame: a seat token acts and looks
   * for its seat, a host token for every seat of its game. Without a token the caller is a spectator. Errors are described
   * with ErrorReason.
   * </pre>
   */
  public static final class GameServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<GameServiceBlockingV2Stub> {
    private GameServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GameServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GameServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a game and deals it. Where the operator closed it, the metadata `x-api-key` is needed. Where the operator set
     * quotas, an API key that has as many games as it may have is refused with LIMIT; a retry is answered all the same.
     * </pre>
     */
    public sodafountain.v1.NewGameResponse newGame(sodafountain.v1.NewGameRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getNewGameMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists every move that the rules allow a seat now, each exactly once.
     * </pre>
     */
    public sodafountain.v1.LegalMovesResponse legalMoves(sodafountain.v1.LegalMovesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getLegalMovesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a move of one seat. A retry with the same request id changes nothing more.
     * </pre>
     */
    public sodafountain.v1.ApplyMoveResponse applyMove(sodafountain.v1.ApplyMoveRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getApplyMoveMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells the standings by public facts, the same for every caller; at the end the result.
     * </pre>
     */
    public sodafountain.v1.ScoreResponse score(sodafountain.v1.ScoreRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getScoreMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Shows the game as a seat or a spectator may see it.
     * </pre>
     */
    public sodafountain.v1.GetGameResponse getGame(sodafountain.v1.GetGameRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetGameMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Follows a game: first a snapshot, then every version's events once and in order, with the newest state. Goes on
     * after a cut with the resume token of the last message, at any server. The last message tells why a stream ends.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, sodafountain.v1.WatchGameResponse>
        watchGame(sodafountain.v1.WatchGameRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWatchGameMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reveals a finished game: options, seed, every move and event, so that anybody can replay and check it.
     * </pre>
     */
    public sodafountain.v1.GetHistoryResponse getHistory(sodafountain.v1.GetHistoryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetHistoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the kinds of game on offer with their options.
     * </pre>
     */
    public sodafountain.v1.ListGameKindsResponse listGameKinds(sodafountain.v1.ListGameKindsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListGameKindsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a game for good. The host's alone.
     * </pre>
     */
    public sodafountain.v1.DeleteGameResponse deleteGame(sodafountain.v1.DeleteGameRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteGameMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service GameService.
   * <pre>
   * Plays tabletop games by their full rules.
   * Who calls is told by the metadata `authorization: Bearer &lt;token&gt;` with a token from NewGame: a seat token acts and looks
   * for its seat, a host token for every seat of its game. Without a token the caller is a spectator. Errors are described
   * with ErrorReason.
   * </pre>
   */
  public static final class GameServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<GameServiceBlockingStub> {
    private GameServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GameServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GameServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a game and deals it. Where the operator closed it, the metadata `x-api-key` is needed. Where the operator set
     * quotas, an API key that has as many games as it may have is refused with LIMIT; a retry is answered all the same.
     * </pre>
     */
    public sodafountain.v1.NewGameResponse newGame(sodafountain.v1.NewGameRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getNewGameMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists every move that the rules allow a seat now, each exactly once.
     * </pre>
     */
    public sodafountain.v1.LegalMovesResponse legalMoves(sodafountain.v1.LegalMovesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getLegalMovesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a move of one seat. A retry with the same request id changes nothing more.
     * </pre>
     */
    public sodafountain.v1.ApplyMoveResponse applyMove(sodafountain.v1.ApplyMoveRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getApplyMoveMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells the standings by public facts, the same for every caller; at the end the result.
     * </pre>
     */
    public sodafountain.v1.ScoreResponse score(sodafountain.v1.ScoreRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getScoreMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Shows the game as a seat or a spectator may see it.
     * </pre>
     */
    public sodafountain.v1.GetGameResponse getGame(sodafountain.v1.GetGameRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetGameMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Follows a game: first a snapshot, then every version's events once and in order, with the newest state. Goes on
     * after a cut with the resume token of the last message, at any server. The last message tells why a stream ends.
     * </pre>
     */
    public java.util.Iterator<sodafountain.v1.WatchGameResponse> watchGame(
        sodafountain.v1.WatchGameRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchGameMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reveals a finished game: options, seed, every move and event, so that anybody can replay and check it.
     * </pre>
     */
    public sodafountain.v1.GetHistoryResponse getHistory(sodafountain.v1.GetHistoryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetHistoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the kinds of game on offer with their options.
     * </pre>
     */
    public sodafountain.v1.ListGameKindsResponse listGameKinds(sodafountain.v1.ListGameKindsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListGameKindsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a game for good. The host's alone.
     * </pre>
     */
    public sodafountain.v1.DeleteGameResponse deleteGame(sodafountain.v1.DeleteGameRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteGameMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service GameService.
   * <pre>
   * Plays tabletop games by their full rules.
   * Who calls is told by the metadata `authorization: Bearer &lt;token&gt;` with a token from NewGame: a seat token acts and looks
   * for its seat, a host token for every seat of its game. Without a token the caller is a spectator. Errors are described
   * with ErrorReason.
   * </pre>
   */
  public static final class GameServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<GameServiceFutureStub> {
    private GameServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GameServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GameServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a game and deals it. Where the operator closed it, the metadata `x-api-key` is needed. Where the operator set
     * quotas, an API key that has as many games as it may have is refused with LIMIT; a retry is answered all the same.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.NewGameResponse> newGame(
        sodafountain.v1.NewGameRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getNewGameMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists every move that the rules allow a seat now, each exactly once.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.LegalMovesResponse> legalMoves(
        sodafountain.v1.LegalMovesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getLegalMovesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Makes a move of one seat. A retry with the same request id changes nothing more.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.ApplyMoveResponse> applyMove(
        sodafountain.v1.ApplyMoveRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getApplyMoveMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Tells the standings by public facts, the same for every caller; at the end the result.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.ScoreResponse> score(
        sodafountain.v1.ScoreRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getScoreMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Shows the game as a seat or a spectator may see it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.GetGameResponse> getGame(
        sodafountain.v1.GetGameRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetGameMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reveals a finished game: options, seed, every move and event, so that anybody can replay and check it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.GetHistoryResponse> getHistory(
        sodafountain.v1.GetHistoryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetHistoryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the kinds of game on offer with their options.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.ListGameKindsResponse> listGameKinds(
        sodafountain.v1.ListGameKindsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListGameKindsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a game for good. The host's alone.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<sodafountain.v1.DeleteGameResponse> deleteGame(
        sodafountain.v1.DeleteGameRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteGameMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_NEW_GAME = 0;
  private static final int METHODID_LEGAL_MOVES = 1;
  private static final int METHODID_APPLY_MOVE = 2;
  private static final int METHODID_SCORE = 3;
  private static final int METHODID_GET_GAME = 4;
  private static final int METHODID_WATCH_GAME = 5;
  private static final int METHODID_GET_HISTORY = 6;
  private static final int METHODID_LIST_GAME_KINDS = 7;
  private static final int METHODID_DELETE_GAME = 8;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_NEW_GAME:
          serviceImpl.newGame((sodafountain.v1.NewGameRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.NewGameResponse>) responseObserver);
          break;
        case METHODID_LEGAL_MOVES:
          serviceImpl.legalMoves((sodafountain.v1.LegalMovesRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.LegalMovesResponse>) responseObserver);
          break;
        case METHODID_APPLY_MOVE:
          serviceImpl.applyMove((sodafountain.v1.ApplyMoveRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.ApplyMoveResponse>) responseObserver);
          break;
        case METHODID_SCORE:
          serviceImpl.score((sodafountain.v1.ScoreRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.ScoreResponse>) responseObserver);
          break;
        case METHODID_GET_GAME:
          serviceImpl.getGame((sodafountain.v1.GetGameRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.GetGameResponse>) responseObserver);
          break;
        case METHODID_WATCH_GAME:
          serviceImpl.watchGame((sodafountain.v1.WatchGameRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.WatchGameResponse>) responseObserver);
          break;
        case METHODID_GET_HISTORY:
          serviceImpl.getHistory((sodafountain.v1.GetHistoryRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.GetHistoryResponse>) responseObserver);
          break;
        case METHODID_LIST_GAME_KINDS:
          serviceImpl.listGameKinds((sodafountain.v1.ListGameKindsRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.ListGameKindsResponse>) responseObserver);
          break;
        case METHODID_DELETE_GAME:
          serviceImpl.deleteGame((sodafountain.v1.DeleteGameRequest) request,
              (io.grpc.stub.StreamObserver<sodafountain.v1.DeleteGameResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getNewGameMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.NewGameRequest,
              sodafountain.v1.NewGameResponse>(
                service, METHODID_NEW_GAME)))
        .addMethod(
          getLegalMovesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.LegalMovesRequest,
              sodafountain.v1.LegalMovesResponse>(
                service, METHODID_LEGAL_MOVES)))
        .addMethod(
          getApplyMoveMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.ApplyMoveRequest,
              sodafountain.v1.ApplyMoveResponse>(
                service, METHODID_APPLY_MOVE)))
        .addMethod(
          getScoreMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.ScoreRequest,
              sodafountain.v1.ScoreResponse>(
                service, METHODID_SCORE)))
        .addMethod(
          getGetGameMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.GetGameRequest,
              sodafountain.v1.GetGameResponse>(
                service, METHODID_GET_GAME)))
        .addMethod(
          getWatchGameMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              sodafountain.v1.WatchGameRequest,
              sodafountain.v1.WatchGameResponse>(
                service, METHODID_WATCH_GAME)))
        .addMethod(
          getGetHistoryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.GetHistoryRequest,
              sodafountain.v1.GetHistoryResponse>(
                service, METHODID_GET_HISTORY)))
        .addMethod(
          getListGameKindsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.ListGameKindsRequest,
              sodafountain.v1.ListGameKindsResponse>(
                service, METHODID_LIST_GAME_KINDS)))
        .addMethod(
          getDeleteGameMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              sodafountain.v1.DeleteGameRequest,
              sodafountain.v1.DeleteGameResponse>(
                service, METHODID_DELETE_GAME)))
        .build();
  }

  private static abstract class GameServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    GameServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return sodafountain.v1.GameServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("GameService");
    }
  }

  private static final class GameServiceFileDescriptorSupplier
      extends GameServiceBaseDescriptorSupplier {
    GameServiceFileDescriptorSupplier() {}
  }

  private static final class GameServiceMethodDescriptorSupplier
      extends GameServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    GameServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (GameServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new GameServiceFileDescriptorSupplier())
              .addMethod(getNewGameMethod())
              .addMethod(getLegalMovesMethod())
              .addMethod(getApplyMoveMethod())
              .addMethod(getScoreMethod())
              .addMethod(getGetGameMethod())
              .addMethod(getWatchGameMethod())
              .addMethod(getGetHistoryMethod())
              .addMethod(getListGameKindsMethod())
              .addMethod(getDeleteGameMethod())
              .build();
        }
      }
    }
    return result;
  }
}
