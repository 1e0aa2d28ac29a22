package kit

import (
	"maps"
	"slices"
	"time"
)

// Kafka's error codes that the tests wait for.
const (
	offsetOutOfRange  = 1
	unknownTopic      = 3
	invalidTopic      = 17
	topicExists       = 36
	invalidPartitions = 37
	invalidConfig     = 40
	nonEmptyGroup     = 68
	groupNotFound     = 69
	groupSubscribed   = 86
)

func (k *Kit) refused(code int, err error) {
	require(err != nil, "not refused; wanted error %d", code)
	require(k.Code(err) == code, "refused with %d (%v) instead of %d", k.Code(err), err, code)
}

func (k *Kit) adminTopics() {
	k.createTopic("admin-topic", 3, map[string]string{"retention.ms": "86400000"})
	k.refused(topicExists, k.CreateTopic("admin-topic", 3, nil, false))
	k.refused(invalidTopic, k.CreateTopic("no/slash", 1, nil, false))
	k.refused(invalidConfig, k.CreateTopic("odd", 1, map[string]string{"no.such.key": "1"}, false))
	k.refused(invalidPartitions, k.CreateTopic("none", 0, nil, false))
	must(k.CreateTopic("only-asked", 1, nil, true))
	must(k.AddPartitions("admin-topic", 5))
	until("the topic has 5 partitions", func() bool { return get(k.PartitionsOf("admin-topic")) == 5 })
	k.refused(invalidPartitions, k.AddPartitions("admin-topic", 5))
	must(k.DeleteTopic("admin-topic"))
	until("the topic is gone", func() bool { return get(k.PartitionsOf("admin-topic")) == 0 })
	k.refused(unknownTopic, k.DeleteTopic("admin-topic"))
	require(get(k.PartitionsOf("only-asked")) == 0, "validateOnly made a topic")
}

func (k *Kit) adminConfigs() {
	k.createTopic("configured", 1, map[string]string{"retention.ms": "86400000"})
	is := func(name, value string, isDefault bool) bool {
		return get(k.TopicConfigs("configured"))[name] == Config{value, isDefault}
	}
	require(is("retention.ms", "86400000", false) && is("cleanup.policy", "delete", true), "%v", get(k.TopicConfigs("configured")))
	must(k.AlterTopic("configured", []Change{{"max.message.bytes", "set", "2000000"}, {"retention.ms", "delete", ""}, {"cleanup.policy", "append", "compact"}}))
	until("the new values are told", func() bool { return is("max.message.bytes", "2000000", false) })
	require(is("retention.ms", "604800000", true) && is("cleanup.policy", "delete,compact", false), "%v", get(k.TopicConfigs("configured")))
	must(k.AlterTopic("configured", []Change{{"cleanup.policy", "subtract", "delete"}}))
	until("the list is shorter", func() bool { return is("cleanup.policy", "compact", false) })
	k.refused(invalidConfig, k.AlterTopic("configured", []Change{{"max.message.bytes", "set", "a lot"}}))
	_, err := k.TopicConfigs("no-such-topic")
	k.refused(unknownTopic, err)
}

func (k *Kit) adminGroups() {
	const group, topic = "admin-group", "admin-grouped"
	member := k.readBy("the-member", group, topic)
	require(slices.Contains(get(k.Groups()), group), "the group is not listed")
	told := get(k.DescribeGroup(group))
	require(told.State == "Stable" && len(told.Members) == 1, "described %v", told)
	one := told.Members[0]
	require(one.ClientID == "the-member" && len(one.Partitions) == Partitions, "member %v", one)
	k.refused(nonEmptyGroup, k.DeleteGroup(group))
	member.leave()
	until("the group is empty", func() bool { return get(k.DescribeGroup(group)).State == "Empty" })
	offsets := map[int32]int64{0: 10, 1: 10, 2: 10, 3: 10, 4: 10, 5: 10}
	require(maps.Equal(get(k.GroupOffsets(group, topic)), offsets), "offsets %v", get(k.GroupOffsets(group, topic)))
	must(k.SetGroupOffset(group, topic, 2, 4))
	offsets[2] = 4
	require(maps.Equal(get(k.GroupOffsets(group, topic)), offsets), "offsets %v", get(k.GroupOffsets(group, topic)))
	must(k.DeleteGroup(group))
	require(!slices.Contains(get(k.Groups()), group), "the group is still listed")
	k.refused(groupNotFound, k.DeleteGroup(group))
}

func (k *Kit) adminGroupOffsetDelete() {
	const group, topic = "trimmed-group", "trimmed-grouped"
	member := k.readBy("a-member", group, topic)
	k.refused(groupSubscribed, k.DeleteGroupOffset(group, topic, 0))
	member.leave()
	until("the group is empty", func() bool { return get(k.DescribeGroup(group)).State == "Empty" })
	must(k.DeleteGroupOffset(group, topic, 0))
	offsets := get(k.GroupOffsets(group, topic))
	_, there := offsets[0]
	require(!there && len(offsets) == Partitions-1, "offsets %v", offsets)
}

// readBy is a member that has read and committed all 60 records of a new topic.
func (k *Kit) readBy(clientID, group, topic string) *reader {
	k.createTopic(topic, Partitions, nil)
	k.produceNumbers(ProducerConfig{Topic: topic, Acks: -1}, 0, 60, Partitions)
	member := k.join(MemberConfig{Group: group, Topic: topic, ClientID: clientID})
	until("all is read", func() bool { return len(member.reads) == 60 }, member.poll)
	must(member.Commit())
	return member
}

func (k *Kit) adminOffsets() {
	k.createTopic("offsets", Partitions, nil)
	k.produceNumbers(ProducerConfig{Topic: "offsets", Acks: -1}, 0, 600, Partitions)
	tomorrow := time.Now().Add(24 * time.Hour).UnixMilli()
	for _, row := range []struct{ at, offset int64 }{{Earliest, 0}, {Latest, 100}, {1, 0}} {
		offset := get(k.Offset("offsets", 0, row.at))
		require(offset == row.offset, "offset at %d: %d instead of %d", row.at, offset, row.offset)
	}
	late := get(k.Offset("offsets", 0, tomorrow))
	require(late == -1 || late == 100, "a time after all records gave %d", late)
}

func (k *Kit) adminDeleteRecords() {
	k.createTopic("trimmed", Partitions, nil)
	k.produceNumbers(ProducerConfig{Topic: "trimmed", Acks: -1}, 0, 600, Partitions)
	must(k.DeleteRecords("trimmed", 0, 40))
	bounds := [3]int64{get(k.Offset("trimmed", 0, Earliest)), get(k.Offset("trimmed", 0, Latest)), get(k.Offset("trimmed", 1, Earliest))}
	require(bounds == [3]int64{40, 100, 0}, "bounds %v", bounds)
	k.refused(offsetOutOfRange, k.DeleteRecords("trimmed", 0, 101))
	left := 0
	k.readAll("trimmed", Partitions, func(Record) { left++ })
	require(left == 560, "%d records are left", left)
}
