// The topics of an answer: some partitions the handler refuses, the others a group answers. Put together as Kafka does:
// if anything was refused, that comes first and each topic has one entry; else the topics are as they came. For
// handlers/ only.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "broker/partition_lookup.hpp"
#include "protocol/errors.hpp"

namespace weir::broker {

// Topic has `partitions`, each with an `error_code`; KeyOf(topic) names it, and owns what it returns.
template <class Topic, auto KeyOf>
class RefusedFirst {
 public:
  // Topics of the request in their order. One of which all is refused is named even without partitions.
  void refuse(Topic topic) { add(std::move(topic)); }
  void pass(Topic topic) { passed_.push_back(std::move(topic)); }
  [[nodiscard]] const std::vector<Topic>& passed() const { return passed_; }

  // The answer, once: `errors` are those of the passed partitions, all of them in order.
  std::vector<Topic> together(const std::vector<protocol::ErrorCode>& errors) {
    auto error = errors.begin();
    for (auto& topic : passed_) {
      for (auto& part : topic.partitions) {
        part.error_code = wire(*error++);
      }
    }
    if (topics_.empty()) {
      return std::move(passed_);
    }
    std::ranges::for_each(passed_, [this](Topic& topic) { add(std::move(topic)); });
    return std::move(topics_);
  }

 private:
  void add(Topic topic) {
    const auto [place, fresh] = places_.try_emplace(KeyOf(topic), topics_.size());
    if (fresh) {
      topics_.push_back(std::move(topic));
    } else {
      std::ranges::move(topic.partitions, std::back_inserter(topics_[place->second].partitions));
    }
  }

  using Key = decltype(KeyOf(std::declval<const Topic&>()));
  std::vector<Topic> topics_;
  std::map<Key, std::size_t> places_;  // in topics_
  std::vector<Topic> passed_;
};

}  // namespace weir::broker
