import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Groups of the classic protocol: members join, share, leave; what is committed is where the next member goes on. */
final class GroupTests {
  private static final int THIRD = 3_000;

  private GroupTests() {}

  static void produceNumbers(String topic, int first, int count) {
    try (KafkaProducer<byte[], byte[]> producer = Support.producer(Map.of("linger.ms", "5"))) {
      for (int number = first; number < first + count; number++) {
        producer.send(new ProducerRecord<>(topic, number % Support.PARTITIONS, null, Support.bytes(Integer.toString(number))));
      }
    }
  }

  private static boolean share(Member one, Member two) {
    return one.assigned.size() == Support.PARTITIONS / 2 && two.assigned.size() == Support.PARTITIONS / 2;
  }

  static void joinShareLeaveResume() {
    final String topic = "grouped";
    Support.createTopic(topic);
    produceNumbers(topic, 0, THIRD);
    // It stops in the middle: what it has read is committed, what it has not is for the next members.
    final Member first = new Member("group", topic, Map.of("max.poll.records", "200"));
    Support.until("the first member has read 2,000", () -> first.reads.size() >= 2_000, first::poll);
    first.leave();
    final Member second = new Member("group", topic, Map.of());
    final Member third = new Member("group", topic, Map.of());
    final Runnable pollBoth = () -> {
      second.poll();
      third.poll();
    };
    Support.until("two members share 3 and 3", () -> share(second, third), pollBoth);
    Support.require(second.assigned.stream().noneMatch(third.assigned::contains), "both have one of " + second.assigned);
    produceNumbers(topic, THIRD, THIRD);
    Support.until("two thirds are read", () -> Member.total(first, second, third) >= 2 * THIRD, pollBoth);
    Support.require(!second.reads.isEmpty() && !third.reads.isEmpty(), "one of the two members read nothing");
    third.leave();
    Support.until("the member that stays has all", () -> second.assigned.size() == Support.PARTITIONS, second::poll);
    produceNumbers(topic, 2 * THIRD, THIRD);
    Support.until("all is read", () -> Member.total(first, second, third) >= 3 * THIRD, second::poll);
    second.leave();
    final List<Integer> numbers = Stream.of(first, second, third).flatMap(m -> m.reads.stream()).map(Member.Read::number).sorted().toList();
    Support.require(numbers.equals(IntStream.range(0, 3 * THIRD).boxed().toList()),
        numbers.size() + " reads, " + numbers.stream().distinct().count() + " different, of " + 3 * THIRD);
  }

  /** Commits behind what was read, in some partitions only: the next member begins exactly there, and nowhere else. */
  static void committedPositionsAreResumed() {
    final String topic = "resumed";
    Support.createTopic(topic);
    produceNumbers(topic, 0, 600);
    final Member first = new Member("resuming", topic, Map.of());
    Support.until("all is read", () -> first.reads.size() == 600, first::poll);
    first.commitInstead(Map.of(0, 7L, 1, 50L, 2, 100L));
    first.leave();
    final Member next = new Member("resuming", topic, Map.of());
    final int rest = 93 + 50 + 0 + 300;
    Support.until("the rest is read", () -> next.reads.size() >= rest, next::poll);
    final Map<Integer, Long> starts = new TreeMap<>();
    next.reads.forEach(read -> starts.merge(read.partition(), read.offset(), Math::min));
    Support.require(starts.equals(Map.of(0, 7L, 1, 50L, 3, 0L, 4, 0L, 5, 0L)), "begins at " + starts);
    Support.require(next.reads.size() == rest, next.reads.size() + " reads instead of " + rest);
    final var told = Release.committed(next.consumer, new TopicPartition(topic, 0));
    Support.require(told.offset() == 7, "committed " + told);
    final var never = Release.committed(next.consumer, new TopicPartition(topic, 5));
    Support.require(never == null, "committed " + never);
    next.leave();
  }

  /** A static member that goes away and comes back within its session gets the same share without a rebalance. */
  static void staticMemberKeepsItsPartitions() {
    final String topic = "static";
    Support.createTopic(topic);
    final Map<String, String> config = new HashMap<>(Map.of("session.timeout.ms", "30000"));
    config.put("group.instance.id", "one");
    final Member one = new Member("static-group", topic, config);
    config.put("group.instance.id", "two");
    final Member two = new Member("static-group", topic, config);
    Support.until("both have 3", () -> share(one, two), () -> {
      one.poll();
      two.poll();
    });
    final Set<Integer> oneHad = Set.copyOf(one.assigned);
    final Set<Integer> twoHad = Set.copyOf(two.assigned);
    two.consumer.close();
    final Member again = new Member("static-group", topic, config);
    Support.until("it has its partitions again", () -> again.assigned.equals(twoHad), again::poll);
    one.poll();
    Support.require(one.assigned.equals(oneHad), "the other member had " + oneHad + " and has " + one.assigned);
    one.leave();
    again.leave();
  }

  /** The cooperative assignor: a member keeps reading what stays with it while another joins. */
  static void cooperativeMembersShare() {
    final String topic = "cooperative";
    Support.createTopic(topic);
    produceNumbers(topic, 0, 600);
    final Map<String, String> config =
        Map.of("partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
    final Member one = new Member("cooperative-group", topic, config);
    Support.until("one member has all", () -> one.assigned.size() == Support.PARTITIONS, one::poll);
    final Member two = new Member("cooperative-group", topic, config);
    Support.until("both have 3", () -> share(one, two), () -> {
      one.poll();
      two.poll();
    });
    Support.require(one.lost.size() == Support.PARTITIONS / 2, "the first member gave up " + one.lost);
    Support.until("all is read", () -> Member.total(one, two) >= 600, () -> {
      one.poll();
      two.poll();
    });
    Support.require(Member.total(one, two) == 600, Member.total(one, two) + " reads of 600");
    one.leave();
    two.leave();
  }
}
