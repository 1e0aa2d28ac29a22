package main

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"weir/compat/kit"
)

var operations = map[string]kafka.ConfigOperation{
	"set": kafka.ConfigOperationSet, "delete": kafka.ConfigOperationDelete,
	"append": kafka.ConfigOperationAppend, "subtract": kafka.ConfigOperationSubtract,
}

// sourceDefault is the config source of a value that nobody set.
const sourceDefault = 5

func (c client) metadata() (*kafka.MetadataResponse, error) {
	return c.Metadata(background, &kafka.MetadataRequest{})
}

func (c client) Cluster() (kit.Cluster, error) {
	told, err := c.metadata()
	if err != nil {
		return kit.Cluster{}, err
	}
	cluster := kit.Cluster{HasController: told.Controller.Host != ""}
	for _, broker := range told.Brokers {
		cluster.Brokers = append(cluster.Brokers, net.JoinHostPort(broker.Host, strconv.Itoa(broker.Port)))
	}
	return cluster, nil
}

func (c client) PartitionsOf(topic string) (int, error) {
	told, err := c.metadata()
	if err != nil {
		return 0, err
	}
	for _, one := range told.Topics {
		if one.Name == topic {
			return len(one.Partitions), nil
		}
	}
	return 0, nil
}

func (c client) CreateTopic(topic string, partitions int, configs map[string]string, validateOnly bool) error {
	config := kafka.TopicConfig{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}
	for name, value := range configs {
		config.ConfigEntries = append(config.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	limited, stop := context.WithTimeout(background, time.Minute)
	if validateOnly { // the client then waits for the topic to appear, as long as it may
		limited, stop = context.WithTimeout(background, time.Second)
	}
	defer stop()
	told, err := c.CreateTopics(limited, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{config}, ValidateOnly: validateOnly})
	if err != nil {
		return err
	}
	return told.Errors[topic]
}

func (c client) AddPartitions(topic string, total int) error {
	told, err := c.CreatePartitions(background, &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: int32(total)}},
	})
	if err != nil {
		return err
	}
	return told.Errors[topic]
}

func (c client) DeleteTopic(topic string) error {
	told, err := c.DeleteTopics(background, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		return err
	}
	return told.Errors[topic]
}

func (c client) TopicConfigs(topic string) (map[string]kit.Config, error) {
	told, err := c.DescribeConfigs(background, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}},
	})
	if err != nil {
		return nil, err
	}
	configs := map[string]kit.Config{}
	for _, one := range told.Resources[0].ConfigEntries {
		configs[one.ConfigName] = kit.Config{Value: one.ConfigValue, IsDefault: one.ConfigSource == sourceDefault}
	}
	return configs, told.Resources[0].Error
}

func (c client) AlterTopic(topic string, changes []kit.Change) error {
	resource := kafka.IncrementalAlterConfigsRequestResource{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}
	for _, change := range changes {
		resource.Configs = append(resource.Configs, kafka.IncrementalAlterConfigsRequestConfig{
			Name: change.Name, Value: change.Value, ConfigOperation: operations[change.Op],
		})
	}
	told, err := c.IncrementalAlterConfigs(background, &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{resource},
	})
	if err != nil {
		return err
	}
	return told.Resources[0].Error
}

func (c client) Offset(topic string, partition int32, at int64) (int64, error) {
	asked := kafka.TimeOffsetOf(int(partition), time.UnixMilli(at))
	switch at {
	case kit.Earliest:
		asked = kafka.FirstOffsetOf(int(partition))
	case kit.Latest:
		asked = kafka.LastOffsetOf(int(partition))
	}
	told, err := c.ListOffsets(background, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {asked}}})
	if err != nil {
		return 0, err
	}
	one := told.Topics[topic][0]
	switch at {
	case kit.Earliest:
		return one.FirstOffset, one.Error
	case kit.Latest:
		return one.LastOffset, one.Error
	}
	for offset := range one.Offsets {
		return offset, one.Error
	}
	return -1, one.Error
}

func (client) DeleteRecords(string, int32, int64) error { return errors.ErrUnsupported }

func (c client) Groups() ([]string, error) {
	told, err := c.ListGroups(background, &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	var groups []string
	for _, group := range told.Groups {
		groups = append(groups, group.GroupID)
	}
	return groups, told.Error
}

func (c client) DescribeGroup(group string) (kit.Group, error) {
	told, err := c.DescribeGroups(background, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return kit.Group{}, err
	}
	described := kit.Group{State: told.Groups[0].GroupState}
	for _, member := range told.Groups[0].Members {
		one := kit.GroupMember{ClientID: member.ClientID}
		for _, topic := range member.MemberAssignments.Topics {
			for _, partition := range topic.Partitions {
				one.Partitions = append(one.Partitions, int32(partition))
			}
		}
		described.Members = append(described.Members, one)
	}
	return described, told.Groups[0].Error
}

func (c client) GroupOffsets(group, topic string) (map[int32]int64, error) {
	told, err := c.OffsetFetch(background, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {0, 1, 2, 3, 4, 5}}})
	if err != nil {
		return nil, err
	}
	offsets := map[int32]int64{}
	for _, one := range told.Topics[topic] {
		if one.CommittedOffset >= 0 {
			offsets[int32(one.Partition)] = one.CommittedOffset
		}
	}
	return offsets, told.Error
}

func (c client) SetGroupOffset(group, topic string, partition int32, offset int64) error {
	told, err := c.OffsetCommit(background, &kafka.OffsetCommitRequest{
		GroupID: group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: int(partition), Offset: offset}}},
	})
	if err != nil {
		return err
	}
	return told.Topics[topic][0].Error
}

func (c client) DeleteGroupOffset(group, topic string, partition int32) error {
	told, err := c.OffsetDelete(background, &kafka.OffsetDeleteRequest{GroupID: group, Topics: map[string][]int{topic: {int(partition)}}})
	if err != nil {
		return err
	}
	return errors.Join(told.Error, told.Topics[topic][0].Error)
}

func (c client) DeleteGroup(group string) error {
	told, err := c.DeleteGroups(background, &kafka.DeleteGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return err
	}
	return told.Errors[group]
}
