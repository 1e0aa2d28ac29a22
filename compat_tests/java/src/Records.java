import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** The records that every client sends; the formulas are those of harness/records.py. */
final class Records {
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz".repeat(13);

  private Records() {}

  static byte[] key(int id) {
    return id % 50 == 49 ? null : Support.bytes("key-" + id * 31L % 499);
  }

  static byte[] value(int id) {
    final int length = (int) ((id * 7919L + Support.SEED) % 300);
    final int first = id % 26;
    return Support.bytes("value-" + id + "-" + LETTERS.substring(first, first + length));
  }

  static List<Header> headers(int id, String codec) {
    return List.of(
        new RecordHeader("id", Support.bytes(Integer.toString(id))),
        new RecordHeader("codec", Support.bytes(codec)),
        new RecordHeader("same", Support.bytes("first")),
        new RecordHeader("same", Support.bytes("second")),
        new RecordHeader("empty", new byte[0]),
        new RecordHeader("null", (byte[]) null));
  }

  static ProducerRecord<byte[], byte[]> make(String topic, int id, String codec) {
    return new ProducerRecord<>(topic, null, key(id), value(id), headers(id, codec));
  }

  /** The id of a record whose key, value and headers are those that this id must have. */
  static int check(ConsumerRecord<byte[], byte[]> record, String codec) {
    final int id = Integer.parseInt(Support.text(record.value()).split("-", 3)[1]);
    Support.require(Arrays.equals(record.key(), key(id)), "record " + id + " has the key " + Support.text(record.key()));
    Support.require(Arrays.equals(record.value(), value(id)), "record " + id + " has another value");
    Support.require(Arrays.asList(record.headers().toArray()).equals(headers(id, codec)),
        "record " + id + " has the headers " + record.headers());
    Support.require(record.timestamp() > 0, "record " + id + " has no timestamp");
    return id;
  }

  static String line(int partition, long offset, int id) {
    return partition + " " + offset + " " + id + "\n";
  }
}
