import java.nio.file.Path;

/**
 * The Java client under test: `Main tests` runs everything but the crash run, `Main crash` that one. Other suites use
 * `Main create TOPIC PARTITIONS CODEC` and `Main dump TOPIC PARTITIONS FILE`.
 */
public final class Main {
  private interface Test {
    void run() throws Exception;
  }

  private static int failures;

  private Main() {}

  private static void test(String name, Test body) {
    final long start = System.nanoTime();
    String detail = "";
    try {
      body.run();
    } catch (Support.Wrong wrong) {
      detail = wrong.getMessage();
    } catch (Exception thrown) {
      detail = thrown + " at " + thrown.getStackTrace()[0];
    }
    failures += detail.isEmpty() ? 0 : 1;
    final double seconds = (System.nanoTime() - start) / 1e9;
    System.out.println(String.format("TEST %s %s %.1f %s", name, detail.isEmpty() ? "PASS" : "FAIL", seconds, detail.replace("\n", " | ")).strip());
  }

  private static void runTests() {
    test("metadata", ProduceTests::metadata);
    for (String codec : new String[] {"none", "gzip", "snappy", "lz4", "zstd"}) {
      test("codec_" + codec, () -> ProduceTests.codec(codec));
    }
    test("empty_and_null_values", ProduceTests::emptyAndNullValues);
    test("plain_acks_0", () -> ProduceTests.plainAcks("0"));
    test("plain_acks_1", () -> ProduceTests.plainAcks("1"));
    test("group_join_share_leave_resume", GroupTests::joinShareLeaveResume);
    test("group_committed_positions_are_resumed", GroupTests::committedPositionsAreResumed);
    test("group_static_member_keeps_its_partitions", GroupTests::staticMemberKeepsItsPartitions);
    test("group_cooperative_members_share", GroupTests::cooperativeMembersShare);
    test("admin_topics", AdminTests::topics);
    test("admin_configs", AdminTests::configs);
    test("admin_groups", AdminTests::groups);
    test("admin_offsets_and_delete_records", AdminTests::offsetsAndDeleteRecords);
    test("admin_log_dirs", AdminTests::logDirs);
  }

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "tests" -> runTests();
      case "crash" -> CrashRun.run();
      case "create" -> Topics.create(arguments[1], Integer.parseInt(arguments[2]), arguments[3]);
      case "dump" -> Topics.dump(arguments[1], Integer.parseInt(arguments[2]), Path.of(arguments[3]));
      default -> throw new IllegalArgumentException("tests, crash, create or dump, not " + arguments[0]);
    }
    Support.ADMIN.close();
    System.exit(failures == 0 ? 0 : 1);
  }
}
