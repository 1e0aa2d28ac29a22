import java.nio.file.Path;

/**
 * The Java client under test: `Main tests` runs everything but the crash run, `Main crash` that one. Other suites use
 * `Main create TOPIC PARTITIONS CODEC` and `Main dump TOPIC PARTITIONS FILE`.
 */
public final class Main {
  private Main() {}

  private static void runTests() {
    ProduceTests.runAll();
    Support.test("group_join_share_leave_resume", GroupTests::joinShareLeaveResume);
    Support.test("group_committed_positions_are_resumed", GroupTests::committedPositionsAreResumed);
    Support.test("group_static_member_keeps_its_partitions", GroupTests::staticMemberKeepsItsPartitions);
    Support.test("group_cooperative_members_share", GroupTests::cooperativeMembersShare);
    Support.test("admin_topics", AdminTests::topics);
    Support.test("admin_configs", AdminTests::configs);
    Support.test("admin_groups", AdminTests::groups);
    Support.test("admin_offsets_and_delete_records", AdminTests::offsetsAndDeleteRecords);
    Support.test("admin_log_dirs", AdminTests::logDirs);
    Support.test("admin_broker_configs", ConfigTests::brokers);
    Support.test("admin_group_configs", ConfigTests::groups);
    Support.test("admin_loggers", ConfigTests::loggers);
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
    System.exit(Support.failures == 0 ? 0 : 1);
  }
}
