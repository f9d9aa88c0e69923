package interop;

import eu.neverblink.jelly.core.memory.EncoderAllocator;
import eu.neverblink.jelly.core.patch.JellyPatchConverterFactory;
import eu.neverblink.jelly.core.patch.JellyPatchOptions;
import eu.neverblink.jelly.core.patch.PatchDecoder;
import eu.neverblink.jelly.core.patch.PatchEncoder;
import eu.neverblink.jelly.core.proto.v1.patch.PatchStreamType;
import eu.neverblink.jelly.core.proto.v1.patch.RdfPatchFrame;
import eu.neverblink.jelly.core.proto.v1.patch.RdfPatchOptions;
import eu.neverblink.jelly.core.proto.v1.patch.RdfPatchRow;
import eu.neverblink.jelly.core.utils.IoUtils;
import eu.neverblink.protoc.java.runtime.ArrayListMessageCollection;
import eu.neverblink.protoc.java.runtime.MessageCollection;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Jelly-Patch files to lines and back, one for each row, by Jelly-JVM with the terms of one library. */
final class PatchCodec<T> {
  private final JellyPatchConverterFactory<T, ?, ?, ?> factory;
  private final Terms<T> terms;

  PatchCodec(JellyPatchConverterFactory<T, ?, ?, ?> factory, Terms<T> terms) {
    this.factory = factory;
    this.terms = terms;
  }

  void decode(Path jelly, Path text) throws IOException {
    try (InputStream in = Files.newInputStream(jelly);
        BufferedWriter out = Files.newBufferedWriter(text)) {
      PatchDecoder decoder =
          factory.anyStatementDecoder(
              new PatchLineWriter<>(terms, out), JellyPatchOptions.DEFAULT_SUPPORTED_OPTIONS);
      IoUtils.AutodetectDelimitingResponse found = IoUtils.autodetectDelimiting(in);
      if (found.isDelimited()) {
        IoUtils.readStream(found.newInput(), RdfPatchFrame.getFactory(), decoder::ingestFrame);
      } else {
        decoder.ingestFrame(RdfPatchFrame.parseFrom(found.newInput()));
      }
    }
  }

  /** Encodes rows; in FRAME streams a mark ends a frame, and in the others so many rows do. */
  void encode(Path text, Path jelly, RdfPatchOptions options, int frameRows) throws IOException {
    boolean isFrameStream = options.getStreamType() == PatchStreamType.FRAME;
    MessageCollection<RdfPatchRow, RdfPatchRow.Mutable> rows =
        new ArrayListMessageCollection<>(RdfPatchRow::newInstance);
    PatchEncoder<T> encoder =
        factory.encoder(PatchEncoder.Params.of(options, rows, EncoderAllocator.newHeapAllocator()));
    PatchLineReader<T> reader = new PatchLineReader<>(terms, encoder, options.getStatementType());
    try (BufferedReader in = Files.newBufferedReader(text);
        OutputStream out = Files.newOutputStream(jelly)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        boolean isPatchEnd = isFrameStream && line.equals(PatchLineWriter.MARK);
        if (!isPatchEnd) {
          reader.read(line);
        }
        if (isPatchEnd || (!isFrameStream && rows.size() >= frameRows)) {
          write(rows, out);
        }
      }
      if (!rows.isEmpty()) {
        write(rows, out);
      }
    }
  }

  private static void write(MessageCollection<RdfPatchRow, RdfPatchRow.Mutable> rows, OutputStream out)
      throws IOException {
    RdfPatchFrame.Mutable frame = RdfPatchFrame.newInstance();
    rows.forEach(frame::addRows);
    frame.writeDelimitedTo(out);
    rows.clear();
  }
}
