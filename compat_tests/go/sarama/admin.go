package main

import (
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"weir/compat/kit"
)

var operations = map[string]sarama.IncrementalAlterConfigsOperation{
	"set": sarama.IncrementalAlterConfigsOperationSet, "delete": sarama.IncrementalAlterConfigsOperationDelete,
	"append": sarama.IncrementalAlterConfigsOperationAppend, "subtract": sarama.IncrementalAlterConfigsOperationSubtract,
}

// failure is nil for the error that says there was none.
func failure(err error) error {
	if errors.Is(err, sarama.ErrNoError) {
		return nil
	}
	return err
}

func (c client) Cluster() (kit.Cluster, error) {
	brokers, controller, err := c.DescribeCluster()
	cluster := kit.Cluster{}
	for _, broker := range brokers {
		cluster.Brokers = append(cluster.Brokers, broker.Addr())
		cluster.HasController = cluster.HasController || broker.ID() == controller
	}
	return cluster, err
}

func (c client) PartitionsOf(topic string) (int, error) {
	topics, err := c.ListTopics()
	return int(topics[topic].NumPartitions), err
}

func (c client) CreateTopic(topic string, partitions int, configs map[string]string, validateOnly bool) error {
	detail := &sarama.TopicDetail{NumPartitions: int32(partitions), ReplicationFactor: 1, ConfigEntries: map[string]*string{}}
	for name, value := range configs {
		detail.ConfigEntries[name] = &value
	}
	return c.ClusterAdmin.CreateTopic(topic, detail, validateOnly)
}

func (c client) AddPartitions(topic string, total int) error {
	return c.CreatePartitions(topic, int32(total), nil, false)
}

func (c client) TopicConfigs(topic string) (map[string]kit.Config, error) {
	told, err := c.DescribeConfigs([]*sarama.ConfigResource{{Type: sarama.TopicResource, Name: topic}}, sarama.DescribeConfigsOptions{})
	if err != nil {
		return nil, err
	}
	configs := map[string]kit.Config{}
	for _, one := range told[0].Configs {
		configs[one.Name] = kit.Config{Value: one.Value, IsDefault: one.Source == sarama.SourceDefault}
	}
	return configs, failure(told[0].ErrorCode)
}

func (c client) AlterTopic(topic string, changes []kit.Change) error {
	entries := map[string]sarama.IncrementalAlterConfigsEntry{}
	for _, change := range changes {
		entry := sarama.IncrementalAlterConfigsEntry{Operation: operations[change.Op]}
		if change.Op != "delete" {
			entry.Value = &change.Value
		}
		entries[change.Name] = entry
	}
	return c.IncrementalAlterConfig(sarama.TopicResource, topic, entries, false)
}

func (c client) Offset(topic string, partition int32, at int64) (int64, error) {
	told, err := c.ListOffsets(map[string]map[int32]int64{topic: {partition: at}}, nil)
	if err != nil {
		return 0, err
	}
	return told[topic][partition].Offset, failure(told[topic][partition].Err)
}

func (c client) DeleteRecords(topic string, partition int32, before int64) error {
	return c.ClusterAdmin.DeleteRecords(topic, map[int32]int64{partition: before})
}

func (c client) Groups() ([]string, error) {
	told, err := c.ListConsumerGroups()
	var groups []string
	for group := range told {
		groups = append(groups, group)
	}
	return groups, err
}

func (c client) DescribeGroup(group string) (kit.Group, error) {
	told, err := c.DescribeConsumerGroups([]string{group})
	if err != nil {
		return kit.Group{}, err
	}
	if len(told) != 1 {
		return kit.Group{}, fmt.Errorf("%d groups described", len(told))
	}
	described := kit.Group{State: told[0].State}
	for _, member := range told[0].Members {
		assigned, err := member.GetMemberAssignment()
		if err != nil {
			return kit.Group{}, err
		}
		one := kit.GroupMember{ClientID: member.ClientId}
		for _, partitions := range assigned.Topics {
			one.Partitions = append(one.Partitions, partitions...)
		}
		described.Members = append(described.Members, one)
	}
	return described, failure(told[0].Err)
}

func (c client) GroupOffsets(group, topic string) (map[int32]int64, error) {
	told, err := c.ListConsumerGroupOffsets(group, nil)
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for partition, block := range told.Blocks[topic] {
		offsets[partition] = block.Offset
	}
	return offsets, failure(told.Err)
}

func (c client) SetGroupOffset(group, topic string, partition int32, offset int64) error {
	wanted := map[string]map[int32]sarama.OffsetAndMetadata{topic: {partition: {Offset: offset, LeaderEpoch: -1}}}
	told, err := c.AlterConsumerGroupOffsets(group, wanted, nil)
	if err != nil {
		return err
	}
	return failure(told.Errors[topic][partition])
}

func (c client) DeleteGroupOffset(group, topic string, partition int32) error {
	return c.DeleteConsumerGroupOffset(group, topic, partition)
}

func (c client) DeleteGroup(group string) error { return c.DeleteConsumerGroup(group) }
