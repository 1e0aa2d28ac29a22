import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Makes a topic, and reads one into a file, for suites in which another client is the one under test. */
final class Topics {
  private Topics() {}

  static void create(String topic, int partitions, String codec) {
    Support.createTopic(topic, partitions, Map.of("compression.type", codec));
  }

  /** Each record: partition, offset, length of key, key, length of value, value; big-endian, -1 for null. */
  static void dump(String topic, int partitions, Path file) throws IOException {
    try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), 1 << 20))) {
      Support.readAll(topic, partitions, record -> {
        try {
          out.writeInt(record.partition());
          out.writeLong(record.offset());
          put(out, record.key());
          put(out, record.value());
        } catch (IOException failed) {
          throw new IllegalStateException(failed);
        }
      });
    }
  }

  private static void put(DataOutputStream out, byte[] bytes) throws IOException {
    out.writeInt(bytes == null ? -1 : bytes.length);
    if (bytes != null) {
      out.write(bytes);
    }
  }
}
