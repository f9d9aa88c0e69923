package interop;

import com.typesafe.config.ConfigFactory;
import eu.neverblink.jelly.core.proto.v1.RdfStreamFrame;
import eu.neverblink.jelly.core.proto.v1.RdfStreamOptions;
import eu.neverblink.jelly.core.proto.v1.RdfStreamSubscribe;
import eu.neverblink.jelly.grpc.RdfStreamServer;
import eu.neverblink.jelly.grpc.RdfStreamServiceClient;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.grpc.GrpcClientSettings;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import scala.concurrent.Future;
import scala.jdk.javaapi.FutureConverters;

/** Jelly-JVM's client and server of the streaming protocol, one command for each process. */
public final class Pekko {
  private static final int PATIENCE_SECONDS = 60;

  private final ActorSystem<Void> system =
      ActorSystem.create(
          Behaviors.empty(),
          "interop",
          ConfigFactory.parseString("pekko.http.server.preview.enable-http2 = on").withFallback(ConfigFactory.load()));

  private Pekko() {}

  public static void main(String[] words) throws Exception {
    Pekko pekko = new Pekko();
    int exitCode = 0;
    try {
      pekko.run(words);
    } catch (ExecutionException failed) {
      if (!(failed.getCause() instanceof StatusRuntimeException refused)) {
        throw failed;
      }
      Status status = refused.getStatus();
      System.out.println(status.getCode() + " " + status.getDescription());
      exitCode = 1;
    } finally {
      pekko.system.terminate();
    }
    System.exit(exitCode);
  }

  private void run(String[] words) throws Exception {
    switch (words[0]) {
      case "publish" -> publish(client(words[1], words[2]), Path.of(words[3]), words.length > 4 ? words[4] : null);
      case "subscribe" ->
          subscribe(
              client(words[1], words[2]),
              words[3],
              Integer.parseInt(words[4]),
              Path.of(words[5]),
              words.length > 6 ? Path.of(words[6]) : null);
      case "serve" -> serve(Boolean.parseBoolean(words[1]));
      default -> throw new IllegalArgumentException("no command " + words[0]);
    }
  }

  private RdfStreamServiceClient client(String port, String backend) {
    return RdfStreamServiceClient.apply(
        GrpcClientSettings.connectToServiceAt("127.0.0.1", Integer.parseInt(port), system)
            .withTls(false)
            .withBackend(backend),
        system);
  }

  /** Publishes the frames of a delimited file, to a topic or to the one that the stream's name is. */
  private void publish(RdfStreamServiceClient client, Path jelly, String topic) throws Exception {
    var frames = Source.from(read(jelly)).asScala();
    if (topic == null) {
      await(client.publishRdf(frames));
    } else {
      await(client.publishRdf().addHeader("jelly-topic-bin", ByteString.fromString(topic)).invoke(frames));
    }
  }

  /** Subscribes from the beginning of a topic, and writes so many frames to a delimited file. */
  private void subscribe(RdfStreamServiceClient client, String topic, int count, Path jelly, Path options)
      throws Exception {
    RdfStreamSubscribe.Mutable request = RdfStreamSubscribe.newInstance().setTopic(topic);
    if (options != null) {
      request.setRequestedOptions(RdfStreamOptions.parseFrom(Files.readAllBytes(options)));
    }
    List<RdfStreamFrame> frames =
        client
            .subscribeRdf()
            .addHeader("jelly-from", "earliest")
            .invoke(request)
            .asJava()
            .take(count)
            .runWith(Sink.seq(), system)
            .toCompletableFuture()
            .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    try (OutputStream out = Files.newOutputStream(jelly)) {
      for (RdfStreamFrame frame : frames) {
        frame.writeDelimitedTo(out);
      }
    }
  }

  /** Serves what is published until standard input ends; prints the port. */
  private void serve(boolean gzip) throws Exception {
    var options = new RdfStreamServer.Options("127.0.0.1", 0, gzip);
    RdfStreamServer server = new RdfStreamServer(options, new LastPublications(system), system);
    System.out.println(await(server.run()).localAddress().getPort());
    System.in.transferTo(OutputStream.nullOutputStream());
    await(server.terminate());
  }

  private static List<RdfStreamFrame> read(Path jelly) throws IOException {
    List<RdfStreamFrame> frames = new ArrayList<>();
    try (InputStream in = Files.newInputStream(jelly)) {
      for (RdfStreamFrame frame = RdfStreamFrame.parseDelimitedFrom(in);
          frame != null;
          frame = RdfStreamFrame.parseDelimitedFrom(in)) {
        frames.add(frame);
      }
    }
    return frames;
  }

  private static <T> T await(Future<T> future) throws Exception {
    return FutureConverters.asJava(future).toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }
}
