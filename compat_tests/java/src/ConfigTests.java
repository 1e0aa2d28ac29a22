import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.RecordTooLargeException;

/** Configs of brokers, groups and loggers, changed while the broker runs. */
final class ConfigTests {
  private ConfigTests() {}

  private static ConfigResource resource(ConfigResource.Type type, String name) {
    return new ConfigResource(type, name);
  }

  private static String node() {
    return Integer.toString(Support.get(Support.ADMIN.describeCluster().controller()).id());
  }

  private static ConfigEntry entry(ConfigResource resource, String name) {
    final var options = new DescribeConfigsOptions().includeSynonyms(true);
    return Support.get(Support.ADMIN.describeConfigs(List.of(resource), options).values().get(resource)).get(name);
  }

  private static void alter(ConfigResource resource, String name, String value) {
    final var type = value == null ? AlterConfigOp.OpType.DELETE : AlterConfigOp.OpType.SET;
    final Collection<AlterConfigOp> ops = List.of(new AlterConfigOp(new ConfigEntry(name, value), type));
    Support.get(Support.ADMIN.incrementalAlterConfigs(Map.of(resource, ops)).all());
  }

  private static void refused(Class<? extends RuntimeException> with, ConfigResource resource, String name, String value) {
    try {
      alter(resource, name, value);
    } catch (RuntimeException refused) {
      Support.require(with.isInstance(refused), "refused with " + refused + " instead of " + with.getSimpleName());
      return;
    }
    throw new Support.Wrong(name + " was set to " + value);
  }

  private static void untilTold(ConfigResource resource, String name, String value, ConfigEntry.ConfigSource source) {
    Support.until(name + " of " + resource + " is " + value + " from " + source, () -> {
      final ConfigEntry told = entry(resource, name);
      return told != null && told.value().equals(value) && told.source() == source;
    }, Support::pause);
  }

  private static boolean takes(String topic, int bytes) {
    try (var producer = Support.producer(Map.of())) {
      producer.send(new ProducerRecord<>(topic, new byte[bytes])).get();
      return true;
    } catch (ExecutionException refused) {
      Support.require(refused.getCause() instanceof RecordTooLargeException, "refused with " + refused.getCause());
      return false;
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  static void brokers() {
    final ConfigResource all = resource(ConfigResource.Type.BROKER, "");
    final ConfigResource one = resource(ConfigResource.Type.BROKER, node());
    final String name = "message.max.bytes";
    Support.createTopic("bounded", 1, Map.of());
    Support.require(takes("bounded", 4000), "4000 bytes before the change");
    alter(all, name, "2000");
    untilTold(one, name, "2000", ConfigEntry.ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG);
    untilTold(resource(ConfigResource.Type.TOPIC, "bounded"), "max.message.bytes", "2000", ConfigEntry.ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG);
    Support.require(!takes("bounded", 4000), "4000 bytes although 2000 is the most");
    alter(one, name, "5000");
    untilTold(one, name, "5000", ConfigEntry.ConfigSource.DYNAMIC_BROKER_CONFIG);
    final List<String> sources = entry(one, name).synonyms().stream().map(synonym -> synonym.source() + " " + synonym.value()).toList();
    Support.require(sources.equals(List.of("DYNAMIC_BROKER_CONFIG 5000", "DYNAMIC_DEFAULT_BROKER_CONFIG 2000", "DEFAULT_CONFIG 1048588")), "synonyms " + sources);
    Support.require(takes("bounded", 4000), "4000 bytes although 5000 is the most");
    alter(one, name, null);
    alter(all, name, null);
    untilTold(one, name, "1048588", ConfigEntry.ConfigSource.DEFAULT_CONFIG);
    refused(InvalidRequestException.class, one, "num.partitions", "3");
    refused(InvalidRequestException.class, all, "log.cleaner.threads", "-1");
    refused(InvalidRequestException.class, all, "cordoned.log.dirs", "*");
    Support.require(entry(one, "num.partitions").isReadOnly() && !entry(one, name).isReadOnly(), "read-only");
    Support.require(entry(one, "ssl.key.password").isSensitive(), "a password is told");
  }

  static void groups() {
    final ConfigResource group = resource(ConfigResource.Type.GROUP, "configured-group");
    final String name = "consumer.session.timeout.ms";
    untilTold(group, name, "45000", ConfigEntry.ConfigSource.DEFAULT_CONFIG);
    alter(group, name, "46000");
    untilTold(group, name, "46000", ConfigEntry.ConfigSource.DYNAMIC_GROUP_CONFIG);
    refused(InvalidConfigurationException.class, group, name, "1");
    refused(InvalidConfigurationException.class, group, "no.such.key", "1");
    alter(group, name, null);
    untilTold(group, name, "45000", ConfigEntry.ConfigSource.DEFAULT_CONFIG);
  }

  static void loggers() {
    final ConfigResource loggers = resource(ConfigResource.Type.BROKER_LOGGER, node());
    final String before = entry(loggers, "root").value();
    alter(loggers, "root", "WARN");
    untilTold(loggers, "root", "WARN", ConfigEntry.ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG);
    refused(InvalidConfigurationException.class, loggers, "root", "LOUD");
    refused(InvalidConfigurationException.class, loggers, "no.such.logger", "INFO");
    refused(InvalidRequestException.class, loggers, "root", null);
    alter(loggers, "root", before);
    untilTold(loggers, "root", before, ConfigEntry.ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG);
  }
}
