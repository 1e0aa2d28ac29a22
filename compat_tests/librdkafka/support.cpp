#include "librdkafka/support.hpp"

#include <chrono>
#include <cstdlib>

namespace compat {

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    throw Refused(std::string(name) + " is not set: run these tests with compat_tests/run.py");
  }
  return text;
}

std::int64_t environment_number(const char* name) {
  return std::stoll(environment(name));
}

std::string broker() {
  return environment("WEIR_BROKER");
}

void until(std::string_view sentence, const std::function<bool()>& condition, const std::function<void()>& work) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kWaitMs);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      throw Refused("too late: " + std::string(sentence));
    }
    work();
  }
}

std::string line(const Delivery& delivery) {
  return std::to_string(delivery.partition) + ' ' + std::to_string(delivery.offset) + ' ' +
         std::to_string(delivery.id) + '\n';
}

std::int64_t Deliveries::id_of(const RdKafka::Message& message) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(message.msg_opaque()));
}

void Deliveries::dr_cb(RdKafka::Message& message) {
  if (message.err() != RdKafka::ERR_NO_ERROR) {
    failed.push_back(message.errstr());
    return;
  }
  all.push_back({message.partition(), message.offset(), id_of(message)});
  on_each(all.back());
}

namespace {

std::unique_ptr<RdKafka::Conf> configuration(const Options& options) {
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string error;
  const auto set = [&](const std::string& name, const std::string& text) {
    if (conf->set(name, text, error) != RdKafka::Conf::CONF_OK) {
      throw Refused(error);
    }
  };
  set("bootstrap.servers", broker());
  for (const auto& [name, text] : options) {
    set(name, text);
  }
  return conf;
}

}  // namespace

std::unique_ptr<RdKafka::Producer> make_producer(const Options& options, Deliveries* deliveries) {
  const auto conf = configuration(options);
  std::string error;
  if (deliveries != nullptr && conf->set("dr_cb", deliveries, error) != RdKafka::Conf::CONF_OK) {
    throw Refused(error);
  }
  std::unique_ptr<RdKafka::Producer> producer(RdKafka::Producer::create(conf.get(), error));
  if (!producer) {
    throw Refused(error);
  }
  return producer;
}

std::unique_ptr<RdKafka::KafkaConsumer> make_consumer(const Options& options, RdKafka::RebalanceCb* rebalance) {
  Options all{{"enable.auto.commit", "false"}, {"auto.offset.reset", "error"}};
  all.insert(all.end(), options.begin(), options.end());
  const auto conf = configuration(all);
  std::string error;
  if (rebalance != nullptr && conf->set("rebalance_cb", rebalance, error) != RdKafka::Conf::CONF_OK) {
    throw Refused(error);
  }
  std::unique_ptr<RdKafka::KafkaConsumer> consumer(RdKafka::KafkaConsumer::create(conf.get(), error));
  if (!consumer) {
    throw Refused(error);
  }
  return consumer;
}

void send(RdKafka::Producer& producer, const Record& record) {
  // librdkafka wants char*, but with RK_MSG_COPY it only reads. A null pointer is a null key or value.
  const auto pointer = [](const std::optional<std::string>& text) {
    return text ? const_cast<char*>(text->data()) : nullptr;
  };
  const auto size = [](const std::optional<std::string>& text) { return text ? text->size() : 0; };
  RdKafka::ErrorCode code = RdKafka::ERR__QUEUE_FULL;
  until(
      "there is room in the queue", [&] { return code != RdKafka::ERR__QUEUE_FULL; },
      [&] {
        auto* opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(record.id));
        code = producer.produce(record.topic, record.partition, RdKafka::Producer::RK_MSG_COPY, pointer(record.value),
                                size(record.value), pointer(record.key), size(record.key), 0, record.headers, opaque);
        producer.poll(code == RdKafka::ERR__QUEUE_FULL ? 50 : 0);
      });
  if (code != RdKafka::ERR_NO_ERROR) {
    delete record.headers;
    throw Refused("not sent: " + RdKafka::err2str(code));
  }
}

void flush(RdKafka::Producer& producer) {
  const auto code = producer.flush(kWaitMs);
  if (code != RdKafka::ERR_NO_ERROR) {
    throw Refused("not flushed: " + RdKafka::err2str(code));
  }
}

std::optional<std::string> key(const RdKafka::Message& message) {
  return message.key() == nullptr ? std::nullopt : std::optional(*message.key());
}

std::optional<std::string> value(const RdKafka::Message& message) {
  if (message.payload() == nullptr) {
    return std::nullopt;
  }
  return std::string(static_cast<const char*>(message.payload()), message.len());
}

void read_all(const std::string& topic, int partitions, const std::function<void(RdKafka::Message&)>& each) {
  const auto reader = make_consumer({{"group.id", "reader"}});
  std::vector<std::unique_ptr<RdKafka::TopicPartition>> owned;
  std::vector<RdKafka::TopicPartition*> parts;
  std::int64_t left = 0;
  for (std::int32_t partition = 0; partition < partitions; ++partition) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    const auto code = reader->query_watermark_offsets(topic, partition, &low, &high, kWaitMs);
    if (code != RdKafka::ERR_NO_ERROR) {
      throw Refused("no bounds: " + RdKafka::err2str(code));
    }
    left += high - low;
    owned.emplace_back(RdKafka::TopicPartition::create(topic, partition, low));
    parts.push_back(owned.back().get());
  }
  reader->assign(parts);
  until(
      "all of " + topic + " is read", [&] { return left == 0; },
      [&] {
        const std::unique_ptr<RdKafka::Message> message(reader->consume(200));
        if (message->err() == RdKafka::ERR__TIMED_OUT) {
          return;
        }
        if (message->err() != RdKafka::ERR_NO_ERROR) {
          throw Refused("not read: " + message->errstr());
        }
        each(*message);
        --left;
      });
  reader->close();
}

}  // namespace compat
