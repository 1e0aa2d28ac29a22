// The admin calls of @platformatic/kafka, as kit/client.js tells them.
import { Admin, ConfigResourceTypes, ConfigSources, IncrementalAlterConfigOperationTypes, ListOffsetTimestamps } from '@platformatic/kafka'

export function makeAdmin(options) {
  const admin = new Admin(options)
  const entries = configs => Object.entries(configs).map(([name, value]) => ({ name, value }))
  const topicResource = name => ({ resourceType: ConfigResourceTypes.TOPIC, resourceName: name })

  async function offsetsAt(topic, time) {
    const { topics } = await admin.metadata({ topics: [topic] })
    const partitions = topics.get(topic).partitions.map((_, partitionIndex) => ({ partitionIndex, timestamp: BigInt(time) }))
    const [told] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
    return new Map(told.partitions.map(({ partitionIndex, offset }) => [partitionIndex, Number(offset)]))
  }

  return {
    async cluster() {
      const { brokers, controllerId } = await admin.metadata({ forceUpdate: true })
      return { brokers: [...brokers.values()].map(({ host, port }) => `${host}:${port}`), hasController: brokers.has(controllerId) }
    },
    async partitionsOf(topic) {
      if (!(await admin.listTopics()).includes(topic)) return 0
      const { topics } = await admin.metadata({ topics: [topic], forceUpdate: true })
      return topics.get(topic).partitionsCount
    },
    createTopic: (topic, partitions, configs) => admin.createTopics({ topics: [topic], partitions, replicas: 1, configs: entries(configs) }),
    addPartitions: (name, count) => admin.createPartitions({ topics: [{ name, count }] }),
    deleteTopic: topic => admin.deleteTopics({ topics: [topic] }),
    async topicConfigs(topic) {
      const [{ configs }] = await admin.describeConfigs({ resources: [topicResource(topic)] })
      return new Map(configs.map(({ name, value, configSource }) => [name, { value, isDefault: configSource === ConfigSources.DEFAULT_CONFIG }]))
    },
    alterTopic(topic, changes) {
      const configs = changes.map(([name, step, ...value]) =>
        ({ name, configOperation: IncrementalAlterConfigOperationTypes[step], ...(value.length > 0 && { value: value[0] }) }))
      return admin.incrementalAlterConfigs({ resources: [{ ...topicResource(topic), configs }] })
    },
    replaceConfigs: (topic, configs) => admin.alterConfigs({ resources: [{ ...topicResource(topic), configs: entries(configs) }] }),

    offsetsAt,
    async bounds(topic) {
      const low = await offsetsAt(topic, ListOffsetTimestamps.EARLIEST)
      const high = await offsetsAt(topic, ListOffsetTimestamps.LATEST)
      return new Map([...low].map(([partition, offset]) => [partition, [offset, high.get(partition)]]))
    },
    deleteRecords: (name, partition, before) => admin.deleteRecords({ topics: [{ name, partitions: [{ partition, offset: BigInt(before) }] }] }),

    groups: async () => [...(await admin.listGroups()).keys()],
    async describeGroup(group) {
      const described = (await admin.describeGroups({ groups: [group] })).get(group)
      const members = [...described.members.values()].map(({ clientId, assignments }) =>
        ({ clientId, partitions: [...(assignments?.values() ?? [])].flatMap(({ partitions }) => partitions) }))
      return { state: described.state, members }
    },
    async groupOffsets(group, topic) {
      const [{ topics }] = await admin.listConsumerGroupOffsets({ groups: [group] })
      const partitions = topics.find(({ name }) => name === topic)?.partitions ?? []
      return new Map(partitions.map(({ partitionIndex, committedOffset }) => [partitionIndex, Number(committedOffset)]))
    },
    setGroupOffset: (groupId, topic, partition, offset) =>
      admin.alterConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionOffsets: [{ partition, offset: BigInt(offset) }] }] }),
    deleteGroupOffset: (groupId, topic, partition) =>
      admin.deleteConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionIndexes: [partition] }] }),
    deleteGroup: group => admin.deleteGroups({ groups: [group] }),
  }
}
