package interop;

import eu.neverblink.jelly.core.JellyConverterFactory;
import eu.neverblink.jelly.core.JellyOptions;
import eu.neverblink.jelly.core.ProtoDecoder;
import eu.neverblink.jelly.core.ProtoEncoder;
import eu.neverblink.jelly.core.RdfHandler;
import eu.neverblink.jelly.core.memory.RowBuffer;
import eu.neverblink.jelly.core.proto.v1.PhysicalStreamType;
import eu.neverblink.jelly.core.proto.v1.RdfStreamFrame;
import eu.neverblink.jelly.core.proto.v1.RdfStreamOptions;
import eu.neverblink.jelly.core.proto.v1.RdfStreamRow;
import eu.neverblink.jelly.core.utils.IoUtils;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Jelly files to lines of N-Quads and back, by Jelly-JVM with the terms of one library. */
final class Codec<T> {
  private final JellyConverterFactory<T, ?, ?, ?> factory;
  private final Terms<T> terms;

  Codec(JellyConverterFactory<T, ?, ?, ?> factory, Terms<T> terms) {
    this.factory = factory;
    this.terms = terms;
  }

  void decode(Path jelly, Path text) throws IOException {
    try (InputStream in = Files.newInputStream(jelly);
        BufferedWriter out = Files.newBufferedWriter(text)) {
      ProtoDecoder<T, ?> decoder = factory.anyStatementDecoder(new LineWriter(out), JellyOptions.DEFAULT_SUPPORTED_OPTIONS);
      IoUtils.AutodetectDelimitingResponse found = IoUtils.autodetectDelimiting(in);
      if (found.isDelimited()) {
        IoUtils.readStream(
            found.newInput(),
            RdfStreamFrame.getFactory(),
            frame -> frame.getRows().forEach(decoder::ingestRow));
      } else {
        for (RdfStreamRow row : RdfStreamFrame.parseFrom(found.newInput()).getRows()) {
          decoder.ingestRow(row);
        }
      }
    }
  }

  void encode(Path text, Path jelly, String type, String preset, int frameRows) throws IOException {
    RdfStreamOptions options =
        (preset.equals("big") ? JellyOptions.BIG_RDF_STAR : JellyOptions.SMALL_RDF_STAR)
            .clone()
            .setPhysicalType(PhysicalStreamType.valueOf(type.toUpperCase()))
            .setVersion(1);
    RowBuffer rows = RowBuffer.newLazyImmutable();
    ProtoEncoder<T> encoder = factory.encoder(ProtoEncoder.Params.of(options, false, rows));
    LineParser<T> parser = new LineParser<>(terms);
    try (BufferedReader in = Files.newBufferedReader(text);
        OutputStream out = Files.newOutputStream(jelly)) {
      boolean isInGraph = false;
      T current = null;
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        List<T> statement = parser.parse(line);
        T graph = statement.size() == 4 ? statement.get(3) : terms.defaultGraph();
        switch (type) {
          case "triples" -> encoder.handleTriple(statement.get(0), statement.get(1), statement.get(2));
          case "quads" -> encoder.handleQuad(statement.get(0), statement.get(1), statement.get(2), graph);
          default -> {
            if (!isInGraph || !Objects.equals(graph, current)) {
              if (isInGraph) {
                encoder.handleGraphEnd();
              }
              encoder.handleGraphStart(graph);
              isInGraph = true;
              current = graph;
            }
            encoder.handleTriple(statement.get(0), statement.get(1), statement.get(2));
          }
        }
        if (rows.size() >= frameRows) {
          write(rows, out);
        }
      }
      if (isInGraph) {
        encoder.handleGraphEnd();
      }
      write(rows, out);
    }
  }

  private static void write(RowBuffer rows, OutputStream out) throws IOException {
    RdfStreamFrame.Mutable frame = RdfStreamFrame.newInstance();
    rows.getRows().forEach(frame::addRows);
    frame.writeDelimitedTo(out);
    rows.clear();
  }

  /** Writes each statement as a line. */
  private final class LineWriter implements RdfHandler.AnyStatementHandler<T> {
    private final BufferedWriter out;

    LineWriter(BufferedWriter out) {
      this.out = out;
    }

    @Override
    public void handleTriple(T s, T p, T o) {
      handleQuad(s, p, o, terms.defaultGraph());
    }

    @Override
    public void handleQuad(T s, T p, T o, T g) {
      StringBuilder line = new StringBuilder();
      for (T term : java.util.Arrays.asList(s, p, o, g)) {
        int before = line.length();
        terms.append(line, term);
        if (line.length() > before) {
          line.append(' ');
        }
      }
      line.append(".\n");
      try {
        out.write(line.toString());
      } catch (IOException error) {
        throw new java.io.UncheckedIOException(error);
      }
    }
  }

  /** Keeps the charset of all text in one place. */
  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
