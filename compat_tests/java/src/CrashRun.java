import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.file.Files;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;

/** The producer of the crash run, and the reading back. The protocol with the harness is told in harness/program.py. */
final class CrashRun {
  private static final int TOTAL = Integer.parseInt(System.getenv("WEIR_CRASH_TOTAL"));
  private static final int GATE = Integer.parseInt(System.getenv("WEIR_CRASH_GATE"));
  private static final int WINDOW = 10_000;
  private static final int STEP = 500;

  private final Semaphore window = new Semaphore(WINDOW);
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private int acknowledged; // the producer's own thread only

  private CrashRun() {}

  static void run() throws Exception {
    Support.createTopic("crash");
    new CrashRun().produce();
    try (Writer reads = Files.newBufferedWriter(Support.OUT.resolve("reads-crash.txt"))) {
      Support.readAll("crash", Support.PARTITIONS,
          record -> ProduceTests.write(reads, Records.line(record.partition(), record.offset(), Records.check(record, "lz4"))));
    }
  }

  private void produce() throws Exception {
    final BufferedReader harness = new BufferedReader(new InputStreamReader(System.in));
    final Map<String, String> config = Map.of("compression.type", "lz4", "linger.ms", "5");
    try (Writer acks = Files.newBufferedWriter(Support.OUT.resolve("acks-crash.txt"));
        KafkaProducer<byte[], byte[]> producer = Support.producer(config)) {
      for (int id = 0; id < TOTAL; id++) {
        if (id == GATE) {
          Support.require("KILLED".equals(harness.readLine()), "the harness went away");
        }
        window.acquire();
        send(producer, acks, id);
      }
      producer.flush();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  private void send(KafkaProducer<byte[], byte[]> producer, Writer acks, int id) {
    producer.send(Records.make("crash", id, "lz4"), (told, failed) -> {
      window.release();
      if (failed != null) {
        failure.compareAndSet(null, failed);
        return;
      }
      ProduceTests.write(acks, Records.line(told.partition(), told.offset(), id));
      if (++acknowledged % STEP == 0) {
        System.out.println("ACKED " + acknowledged);
      }
    });
  }
}
