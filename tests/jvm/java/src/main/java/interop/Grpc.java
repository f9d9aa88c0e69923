package interop;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import eu.neverblink.jelly.core.proto.v1.RdfStreamFrame;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The streaming protocol on gRPC for Java, with frames of Jelly-JVM: a client, and a server of one stream. */
final class Grpc {
  private static final String SERVICE = "eu.ostrzyciel.jelly.core.proto.v1.RdfStreamService";
  private static final Metadata.Key<byte[]> TOPIC =
      Metadata.Key.of("jelly-topic-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private static final MethodDescriptor<byte[], RdfStreamFrame> SUBSCRIBE =
      MethodDescriptor.newBuilder(new Bytes(), new Frames())
          .setType(MethodType.SERVER_STREAMING)
          .setFullMethodName(SERVICE + "/SubscribeRdf")
          .build();
  private static final MethodDescriptor<RdfStreamFrame, byte[]> PUBLISH =
      MethodDescriptor.newBuilder(new Frames(), new Bytes())
          .setType(MethodType.CLIENT_STREAMING)
          .setFullMethodName(SERVICE + "/PublishRdf")
          .build();

  private Grpc() {}

  /** Publishes the frames of a delimited file, and waits until they are acknowledged. */
  static void publish(String target, String topic, Path jelly) throws Exception {
    ManagedChannel channel = ManagedChannelBuilder.forTarget(target).usePlaintext().build();
    try (InputStream in = Files.newInputStream(jelly)) {
      Metadata headers = new Metadata();
      headers.put(TOPIC, Codec.utf8(topic));
      CompletableFuture<byte[]> received = new CompletableFuture<>();
      StreamObserver<RdfStreamFrame> frames =
          ClientCalls.asyncClientStreamingCall(
              io.grpc.ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers))
                  .newCall(PUBLISH, CallOptions.DEFAULT),
              new Last(received));
      for (RdfStreamFrame frame = RdfStreamFrame.parseDelimitedFrom(in);
          frame != null;
          frame = RdfStreamFrame.parseDelimitedFrom(in)) {
        frames.onNext(frame);
      }
      frames.onCompleted();
      received.get(60, TimeUnit.SECONDS);
    } finally {
      channel.shutdownNow();
    }
  }

  /** Subscribes, and writes so many frames to a delimited file. */
  static void subscribe(String target, String topic, int count, Path jelly) throws Exception {
    ManagedChannel channel = ManagedChannelBuilder.forTarget(target).usePlaintext().build();
    try (OutputStream out = Files.newOutputStream(jelly)) {
      ByteArrayOutputStream request = new ByteArrayOutputStream();
      CodedOutputStream coded = CodedOutputStream.newInstance(request);
      coded.writeString(1, topic);
      coded.flush();
      Metadata headers = new Metadata();
      headers.put(Metadata.Key.of("jelly-from", Metadata.ASCII_STRING_MARSHALLER), "earliest");
      Iterator<RdfStreamFrame> frames =
          ClientCalls.blockingServerStreamingCall(
              io.grpc.ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers)),
              SUBSCRIBE,
              CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS),
              request.toByteArray());
      for (int taken = 0; taken < count && frames.hasNext(); taken++) {
        frames.next().writeDelimitedTo(out);
      }
    } finally {
      channel.shutdownNow();
    }
  }

  /** Serves the frames of a file to subscribers, and keeps what is published in another; writes its port to a file. */
  static void serve(Path served, Path published, Path portFile) throws Exception {
    ServerServiceDefinition service =
        ServerServiceDefinition.builder(SERVICE)
            .addMethod(
                SUBSCRIBE,
                ServerCalls.asyncServerStreamingCall((request, frames) -> send(served, request, frames)))
            .addMethod(PUBLISH, ServerCalls.asyncClientStreamingCall(answer -> new Keeper(published, answer)))
            .build();
    Server server = ServerBuilder.forPort(0).addService(service).build().start();
    Files.writeString(portFile, Integer.toString(server.getPort()));
  }

  private static void send(Path served, byte[] request, StreamObserver<RdfStreamFrame> frames) {
    try (InputStream in = Files.newInputStream(served)) {
      CodedInputStream.newInstance(request).readTag();
      for (RdfStreamFrame frame = RdfStreamFrame.parseDelimitedFrom(in);
          frame != null;
          frame = RdfStreamFrame.parseDelimitedFrom(in)) {
        frames.onNext(frame);
      }
      frames.onCompleted();
    } catch (IOException error) {
      frames.onError(error);
    }
  }

  private record Last(CompletableFuture<byte[]> received) implements StreamObserver<byte[]> {
    @Override
    public void onNext(byte[] message) {
      received.complete(message);
    }

    @Override
    public void onError(Throwable error) {
      received.completeExceptionally(error);
    }

    @Override
    public void onCompleted() {}
  }

  private static final class Keeper implements StreamObserver<RdfStreamFrame> {
    private final OutputStream out;
    private final StreamObserver<byte[]> answer;

    Keeper(Path to, StreamObserver<byte[]> answer) {
      this.answer = answer;
      try {
        out = Files.newOutputStream(to);
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }

    @Override
    public void onNext(RdfStreamFrame frame) {
      try {
        frame.writeDelimitedTo(out);
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }

    @Override
    public void onError(Throwable error) {
      onCompleted();
    }

    @Override
    public void onCompleted() {
      try {
        out.close();
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
      answer.onNext(new byte[0]);
      answer.onCompleted();
    }
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream in) {
      try {
        return in.readAllBytes();
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }

  private static final class Frames implements MethodDescriptor.Marshaller<RdfStreamFrame> {
    @Override
    public InputStream stream(RdfStreamFrame frame) {
      return new ByteArrayInputStream(frame.toByteArray());
    }

    @Override
    public RdfStreamFrame parse(InputStream in) {
      try {
        return RdfStreamFrame.parseFrom(in);
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }
}
