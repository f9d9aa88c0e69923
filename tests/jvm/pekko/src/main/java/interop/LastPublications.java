package interop;

import eu.neverblink.jelly.core.proto.v1.PhysicalStreamType;
import eu.neverblink.jelly.core.proto.v1.RdfStreamFrame;
import eu.neverblink.jelly.core.proto.v1.RdfStreamOptions;
import eu.neverblink.jelly.core.proto.v1.RdfStreamReceived;
import eu.neverblink.jelly.core.proto.v1.RdfStreamRow;
import eu.neverblink.jelly.core.proto.v1.RdfStreamSubscribe;
import eu.neverblink.jelly.grpc.RdfStreamService;
import io.grpc.Status;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.grpc.GrpcServiceException;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.scaladsl.Source;
import scala.concurrent.Future;
import scala.jdk.javaapi.FutureConverters;

/** Keeps the last publication of each topic, by the stream's name, and serves it; topics it does not have are refused. */
final class LastPublications implements RdfStreamService {
  private final ActorSystem<Void> system;
  private final Map<String, List<RdfStreamFrame>> topics = new ConcurrentHashMap<>();

  LastPublications(ActorSystem<Void> system) {
    this.system = system;
  }

  @Override
  public Source<RdfStreamFrame, NotUsed> subscribeRdf(RdfStreamSubscribe request) {
    List<RdfStreamFrame> frames = topics.get(request.getTopic());
    if (frames == null) {
      throw refusal(Status.NOT_FOUND, "there is no topic " + request.getTopic());
    }
    RdfStreamOptions requested = request.getRequestedOptions();
    if (requested != null && !goesWith(requested.getPhysicalType(), options(frames).getPhysicalType())) {
      throw refusal(Status.INVALID_ARGUMENT, "this server does not convert to " + requested.getPhysicalType());
    }
    return org.apache.pekko.stream.javadsl.Source.from(frames).asScala();
  }

  @Override
  public Future<RdfStreamReceived> publishRdf(Source<RdfStreamFrame, NotUsed> frames) {
    // Pekko looks for the status in the failure itself, which a chain of stages would wrap.
    CompletableFuture<RdfStreamReceived> answer = new CompletableFuture<>();
    frames
        .asJava()
        .runWith(Sink.<RdfStreamFrame>seq(), system)
        .whenComplete(
            (received, failure) -> {
              try {
                answer.complete(keep(received));
              } catch (RuntimeException refusal) {
                answer.completeExceptionally(failure == null ? refusal : failure);
              }
            });
    return FutureConverters.asScala(answer);
  }

  private RdfStreamReceived keep(List<RdfStreamFrame> frames) {
    String name = options(frames).getStreamName();
    if (name.equals("refused")) {
      throw refusal(Status.INVALID_ARGUMENT, "this topic is not for publications");
    }
    topics.put(name, frames);
    return RdfStreamReceived.EMPTY;
  }

  private static RdfStreamOptions options(List<RdfStreamFrame> frames) {
    RdfStreamRow first = frames.get(0).getRows().iterator().next();
    return first.getOptions();
  }

  private static boolean goesWith(PhysicalStreamType requested, PhysicalStreamType kept) {
    return requested == PhysicalStreamType.UNSPECIFIED || requested == kept;
  }

  private static GrpcServiceException refusal(Status status, String reason) {
    return new GrpcServiceException(status.withDescription(reason));
  }
}
