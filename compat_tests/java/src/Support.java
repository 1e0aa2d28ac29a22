import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Shared by the parts of the Java client: settings from the environment, clients, waiting, reading a whole topic. */
final class Support {
  static final String BROKER = System.getenv("WEIR_BROKER");
  static final int COUNT = Integer.parseInt(System.getenv("WEIR_COUNT"));
  static final int SEED = Integer.parseInt(System.getenv("WEIR_SEED"));
  static final Path OUT = Path.of(System.getenv("WEIR_OUT"));
  static final int PARTITIONS = 6;
  static final Duration WAIT = Duration.ofSeconds(60);
  static final AdminClient ADMIN = AdminClient.create(Map.<String, Object>of("bootstrap.servers", BROKER));

  private Support() {}

  /** What a test has to say when it fails; anything else that is thrown is shown with its place. */
  static final class Wrong extends RuntimeException {
    private static final long serialVersionUID = 1;

    Wrong(String sentence) {
      super(sentence);
    }
  }

  static void require(boolean condition, String sentence) {
    if (!condition) {
      throw new Wrong(sentence);
    }
  }

  /** Repeats `work` until the condition holds; too late is a failure that says the sentence. */
  static void until(String sentence, BooleanSupplier condition, Runnable work) {
    final long end = System.nanoTime() + WAIT.toNanos();
    while (!condition.getAsBoolean()) {
      require(System.nanoTime() < end, "not within " + WAIT.toSeconds() + " s: " + sentence);
      work.run();
    }
  }

  static void pause() {
    try {
      Thread.sleep(20); // a poll of the broker, bounded by the deadline of until()
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  static <T> T get(KafkaFuture<T> future) {
    try {
      return future.get(WAIT.toSeconds(), java.util.concurrent.TimeUnit.SECONDS);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(failed.getCause());
    } catch (InterruptedException | java.util.concurrent.TimeoutException late) {
      throw new IllegalStateException(late);
    }
  }

  static void createTopic(String name, int partitions, Map<String, String> config) {
    get(ADMIN.createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(config))).all());
    // Kafka's controller has answered, but its broker may learn of the topic a moment later.
    until(name + " has " + partitions + " partitions", () -> partitionsOf(name) == partitions, Support::pause);
  }

  static void createTopic(String name) {
    createTopic(name, PARTITIONS, Map.of());
  }

  /** 0 when there is no such topic. */
  static int partitionsOf(String topic) {
    if (!get(ADMIN.listTopics().names()).contains(topic)) {
      return 0;
    }
    try {
      return get(Release.describeTopic(topic)).partitions().size();
    } catch (org.apache.kafka.common.errors.UnknownTopicOrPartitionException goneMeanwhile) {
      return 0;
    }
  }

  interface Test {
    void run() throws Exception;
  }

  static int failures;

  /** Runs one test and tells its verdict in the line protocol of harness/program.py. */
  static void test(String name, Test body) {
    final long start = System.nanoTime();
    String detail = "";
    try {
      body.run();
    } catch (Wrong wrong) {
      detail = wrong.getMessage();
    } catch (Exception thrown) {
      final StackTraceElement[] places = thrown.getStackTrace(); // errors of the broker have none
      detail = thrown + (places.length > 0 ? " at " + places[0] : "");
    }
    failures += detail.isEmpty() ? 0 : 1;
    final double seconds = (System.nanoTime() - start) / 1e9;
    System.out.println(String.format("TEST %s %s %.1f %s", name, detail.isEmpty() ? "PASS" : "FAIL", seconds, detail.replace("\n", " | ")).strip());
  }

  static KafkaProducer<byte[], byte[]> producer(Map<String, String> config) {
    final Properties all = new Properties();
    all.put("bootstrap.servers", BROKER);
    all.putAll(Release.PRODUCER);
    all.putAll(config);
    return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
  }

  static KafkaConsumer<byte[], byte[]> consumer(Map<String, String> config) {
    final Properties all = new Properties();
    all.put("bootstrap.servers", BROKER);
    all.put("group.protocol", "classic");
    all.put("enable.auto.commit", "false");
    all.put("auto.offset.reset", "none");
    all.putAll(config);
    return new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** Every record of the topic from its start to the ends seen at the beginning. */
  static void readAll(String topic, int partitions, Consumer<ConsumerRecord<byte[], byte[]>> each) {
    final List<TopicPartition> parts = IntStream.range(0, partitions).mapToObj(p -> new TopicPartition(topic, p)).toList();
    try (KafkaConsumer<byte[], byte[]> reader = consumer(Map.of())) {
      reader.assign(parts);
      reader.seekToBeginning(parts);
      final Map<TopicPartition, Long> ends = reader.endOffsets(parts);
      final BooleanSupplier done = () -> parts.stream().allMatch(part -> reader.position(part) >= ends.get(part));
      until("all of " + topic + " is read", done, () -> reader.poll(Duration.ofMillis(200)).forEach(each));
    }
  }

  static List<ConsumerRecord<byte[], byte[]>> readAll(String topic, int partitions) {
    final List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
    readAll(topic, partitions, all::add);
    return all;
  }

  static String text(byte[] bytes) {
    return bytes == null ? "null" : new String(bytes, StandardCharsets.US_ASCII);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
