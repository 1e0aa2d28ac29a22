package main

import (
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"weir/compat/kit"
)

var operations = map[string]kadm.IncrementalOp{
	"set": kadm.SetConfig, "delete": kadm.DeleteConfig, "append": kadm.AppendConfig, "subtract": kadm.SubtractConfig,
}

// commitDone passes on the error of a commit, or of one of its partitions.
func commitDone(failed chan<- error) func(*kgo.Client, *kmsg.OffsetCommitRequest, *kmsg.OffsetCommitResponse, error) {
	return func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, told *kmsg.OffsetCommitResponse, err error) {
		if err == nil {
			for _, topic := range told.Topics {
				for _, partition := range topic.Partitions {
					if failure := kerr.ErrorForCode(partition.ErrorCode); failure != nil {
						err = failure
					}
				}
			}
		}
		failed <- err
	}
}

func (c client) Cluster() (kit.Cluster, error) {
	told, err := c.BrokerMetadata(background)
	var brokers []string
	for _, broker := range told.Brokers {
		brokers = append(brokers, net.JoinHostPort(broker.Host, strconv.Itoa(int(broker.Port))))
	}
	return kit.Cluster{Brokers: brokers, HasController: told.Controller >= 0}, err
}

func (c client) PartitionsOf(topic string) (int, error) {
	told, err := c.ListTopics(background)
	return len(told[topic].Partitions), err
}

func (c client) CreateTopic(topic string, partitions int, configs map[string]string, validateOnly bool) error {
	create := c.CreateTopics
	if validateOnly {
		create = c.ValidateCreateTopics
	}
	values := map[string]*string{}
	for name, value := range configs {
		values[name] = kadm.StringPtr(value)
	}
	told, err := create(background, int32(partitions), 1, values, topic)
	if err != nil {
		return err
	}
	return told[topic].Err
}

func (c client) AddPartitions(topic string, total int) error {
	told, err := c.UpdatePartitions(background, total, topic)
	if err != nil {
		return err
	}
	return told[topic].Err
}

func (c client) DeleteTopic(topic string) error {
	_, err := c.Client.DeleteTopic(background, topic)
	return err
}

func (c client) TopicConfigs(topic string) (map[string]kit.Config, error) {
	told, err := c.DescribeTopicConfigs(background, topic)
	if err != nil {
		return nil, err
	}
	resource, err := told.On(topic, nil)
	configs := map[string]kit.Config{}
	for _, one := range resource.Configs {
		configs[one.Key] = kit.Config{Value: one.MaybeValue(), IsDefault: one.Source == kmsg.ConfigSourceDefaultConfig}
	}
	if err == nil {
		err = resource.Err
	}
	return configs, err
}

func (c client) AlterTopic(topic string, changes []kit.Change) error {
	var steps []kadm.AlterConfig
	for _, change := range changes {
		step := kadm.AlterConfig{Op: operations[change.Op], Name: change.Name}
		if change.Op != "delete" {
			step.Value = kadm.StringPtr(change.Value)
		}
		steps = append(steps, step)
	}
	told, err := c.AlterTopicConfigs(background, steps, topic)
	if err != nil {
		return err
	}
	_, err = told.On(topic, func(one *kadm.AlterConfigsResponse) error { return one.Err })
	return err
}

func (c client) Offset(topic string, partition int32, at int64) (int64, error) {
	told, err := c.ListOffsetsAfterMilli(background, at, topic)
	switch at {
	case kit.Earliest:
		told, err = c.ListStartOffsets(background, topic)
	case kit.Latest:
		told, err = c.ListEndOffsets(background, topic)
	}
	if err != nil {
		return 0, err
	}
	one, _ := told.Lookup(topic, partition)
	return one.Offset, one.Err
}

func (c client) DeleteRecords(topic string, partition int32, before int64) error {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, before, -1)
	told, err := c.Client.DeleteRecords(background, offsets)
	if err != nil {
		return err
	}
	one, _ := told.Lookup(topic, partition)
	return one.Err
}

func (c client) Groups() ([]string, error) {
	told, err := c.ListGroups(background)
	return told.Groups(), err
}

func (c client) DescribeGroup(group string) (kit.Group, error) {
	told, err := c.DescribeGroups(background, group)
	if err != nil {
		return kit.Group{}, err
	}
	described := kit.Group{State: told[group].State}
	for _, member := range told[group].Members {
		one := kit.GroupMember{ClientID: member.ClientID}
		if assigned, known := member.Assigned.AsConsumer(); known {
			for _, topic := range assigned.Topics {
				one.Partitions = append(one.Partitions, topic.Partitions...)
			}
		}
		described.Members = append(described.Members, one)
	}
	return described, told[group].Err
}

func (c client) GroupOffsets(group, topic string) (map[int32]int64, error) {
	told, err := c.FetchOffsets(background, group)
	offsets := map[int32]int64{}
	for partition, one := range told[topic] {
		offsets[partition] = one.At
	}
	return offsets, err
}

func (c client) SetGroupOffset(group, topic string, partition int32, offset int64) error {
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, offset, -1)
	return c.CommitAllOffsets(background, group, offsets)
}

func (c client) DeleteGroupOffset(group, topic string, partition int32) error {
	var set kadm.TopicsSet
	set.Add(topic, partition)
	told, err := c.DeleteOffsets(background, group, set)
	if err != nil {
		return err
	}
	failure, _ := told.Lookup(topic, partition)
	return failure
}

func (c client) DeleteGroup(group string) error {
	_, err := c.Client.DeleteGroup(background, group)
	return err
}
