// The admin calls of kafkajs, as kit/client.js tells them.

export async function makeAdmin(client, { AssignerProtocol, ConfigResourceTypes, ConfigSource }) {
  const admin = client.admin()
  await admin.connect()
  const entries = configs => Object.entries(configs).map(([name, value]) => ({ name, value }))

  async function createTopic(topic, numPartitions, configs, validateOnly = false) {
    const one = { topic, numPartitions, replicationFactor: 1, configEntries: entries(configs) }
    const made = await admin.createTopics({ topics: [one], validateOnly, waitForLeaders: !validateOnly })
    // A topic that is there already is the one refusal that it tells by `false`.
    if (!made) throw Object.assign(new Error('TOPIC_ALREADY_EXISTS'), { code: 36 })
  }

  return {
    async cluster() {
      const { brokers, controller } = await admin.describeCluster()
      return { brokers: brokers.map(({ host, port }) => `${host}:${port}`), hasController: controller !== null }
    },
    // Of all topics: asked for one that is not there it tries again until its retries end.
    async partitionsOf(topic) {
      const { topics } = await admin.fetchTopicMetadata()
      return topics.find(({ name }) => name === topic)?.partitions.length ?? 0
    },
    createTopic,
    validateTopic: topic => createTopic(topic, 1, {}, true),
    addPartitions: (topic, count) => admin.createPartitions({ topicPartitions: [{ topic, count }] }),
    deleteTopic: topic => admin.deleteTopics({ topics: [topic] }),
    async topicConfigs(name) {
      const { resources } = await admin.describeConfigs({ resources: [{ type: ConfigResourceTypes.TOPIC, name }], includeSynonyms: false })
      return new Map(resources[0].configEntries.map(({ configName, configValue, configSource }) =>
        [configName, { value: configValue, isDefault: configSource === ConfigSource.DEFAULT_CONFIG }]))
    },
    replaceConfigs: (name, configs) =>
      admin.alterConfigs({ validateOnly: false, resources: [{ type: ConfigResourceTypes.TOPIC, name, configEntries: entries(configs) }] }),

    async bounds(topic) {
      const told = await admin.fetchTopicOffsets(topic)
      return new Map(told.map(({ partition, low, high }) => [partition, [Number(low), Number(high)]]))
    },
    async offsetsAt(topic, time) {
      const told = await admin.fetchTopicOffsetsByTimestamp(topic, time)
      return new Map(told.map(({ partition, offset }) => [partition, Number(offset)]))
    },
    deleteRecords: (topic, partition, before) => admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before) }] }),

    groups: async () => (await admin.listGroups()).groups.map(({ groupId }) => groupId),
    async describeGroup(group) {
      const { groups } = await admin.describeGroups([group])
      const members = groups[0].members.map(({ clientId, memberAssignment }) =>
        ({ clientId, partitions: Object.values(AssignerProtocol.MemberAssignment.decode(memberAssignment).assignment).flat() }))
      return { state: groups[0].state, members }
    },
    async groupOffsets(groupId, topic) {
      const [{ partitions }] = await admin.fetchOffsets({ groupId, topics: [topic] })
      return new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)]).filter(([, offset]) => offset >= 0))
    },
    setGroupOffset: (groupId, topic, partition, offset) => admin.setOffsets({ groupId, topic, partitions: [{ partition, offset: String(offset) }] }),
    deleteGroup: group => admin.deleteGroups([group]),
  }
}
