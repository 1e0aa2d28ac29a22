// Metadata and the admin calls. A client may lack validateTopic; else what it lacks is in `without`.
import { join } from './groups.js'
import { createTopic, produceNumbers, readAll } from './produce.js'
import { BROKER, PARTITIONS, require, until } from './run.js'

const OFFSET_OUT_OF_RANGE = 1
const UNKNOWN_TOPIC = 3
const INVALID_TOPIC = 17
const TOPIC_EXISTS = 36
const INVALID_PARTITIONS = 37
const INVALID_CONFIG = 40
const NON_EMPTY_GROUP = 68
const GROUP_NOT_FOUND = 69
const GROUP_SUBSCRIBED = 86

const DAY_MS = 86_400_000

async function refused(client, code, call) {
  const error = await call.then(() => null, error => error)
  require(error, `not refused; wanted error ${code}`)
  require(client.code(error) === code, `refused with ${client.code(error)} (${error.stack ?? error}) instead of ${code}`)
}

export async function metadata(client) {
  const { brokers, hasController } = await client.cluster()
  require(brokers.length === 1 && brokers[0] === BROKER, `brokers ${brokers}`)
  require(hasController, 'no controller')
  require((await client.partitionsOf('not-there')) === 0, 'a topic that is not there has partitions')
}

export async function topics(client) {
  await createTopic(client, 'admin-topic', 3, { 'retention.ms': '86400000' })
  await refused(client, TOPIC_EXISTS, client.createTopic('admin-topic', 3, {}))
  await refused(client, INVALID_TOPIC, client.createTopic('no/slash', 1, {}))
  await refused(client, INVALID_CONFIG, client.createTopic('odd', 1, { 'no.such.key': '1' }))
  await refused(client, INVALID_PARTITIONS, client.createTopic('none', 0, {}))
  await client.validateTopic?.('only-asked')
  await client.addPartitions('admin-topic', 5)
  await until('the topic has 5 partitions', async () => (await client.partitionsOf('admin-topic')) === 5)
  await refused(client, INVALID_PARTITIONS, client.addPartitions('admin-topic', 5))
  await client.deleteTopic('admin-topic')
  await until('the topic is gone', async () => (await client.partitionsOf('admin-topic')) === 0)
  await refused(client, UNKNOWN_TOPIC, client.deleteTopic('admin-topic'))
  require((await client.partitionsOf('only-asked')) === 0, 'to validate only made a topic')
}

async function configIs(client, topic, name, value, isDefault) {
  const one = (await client.topicConfigs(topic)).get(name)
  return one.value === value && one.isDefault === isDefault
}

export async function configs(client) {
  await createTopic(client, 'configured', 1, { 'retention.ms': '86400000' })
  const is = (name, value, isDefault) => configIs(client, 'configured', name, value, isDefault)
  require((await is('retention.ms', '86400000', false)) && (await is('cleanup.policy', 'delete', true)), 'as made')
  await client.alterTopic('configured', [['max.message.bytes', 'SET', '2000000'], ['retention.ms', 'DELETE'], ['cleanup.policy', 'APPEND', 'compact']])
  await until('the new values are told', () => is('max.message.bytes', '2000000', false))
  require((await is('retention.ms', '604800000', true)) && (await is('cleanup.policy', 'delete,compact', false)), 'as altered')
  await client.alterTopic('configured', [['cleanup.policy', 'SUBTRACT', 'delete']])
  await until('the list is shorter', () => is('cleanup.policy', 'compact', false))
  await refused(client, INVALID_CONFIG, client.alterTopic('configured', [['max.message.bytes', 'SET', 'a lot']]))
  await refused(client, UNKNOWN_TOPIC, client.topicConfigs('no-such-topic'))
}

/** The old AlterConfigs: what is not named goes back to its default. */
export async function configsReplaced(client) {
  await createTopic(client, 'replaced', 1, { 'retention.ms': '86400000' })
  const is = (name, value, isDefault) => configIs(client, 'replaced', name, value, isDefault)
  require(await is('retention.ms', '86400000', false), 'as made')
  await client.replaceConfigs('replaced', { 'max.message.bytes': '2000000', 'cleanup.policy': 'compact' })
  await until('the new values are told', () => is('max.message.bytes', '2000000', false))
  require((await is('retention.ms', '604800000', true)) && (await is('cleanup.policy', 'compact', false)), 'as replaced')
  await refused(client, INVALID_CONFIG, client.replaceConfigs('replaced', { 'max.message.bytes': 'a lot' }))
  await refused(client, UNKNOWN_TOPIC, client.replaceConfigs('no-such-topic', { 'max.message.bytes': '2000000' }))
}

/** A member that has read and committed all 60 records of a new topic. */
async function readBy(client, clientId, group, topic) {
  await createTopic(client, topic, PARTITIONS)
  await produceNumbers(client, { topic }, 0, 60)
  const reader = await join(client, { group, topic, clientId })
  await until('all is read', () => reader.reads.length === 60)
  return reader
}

const groupIsEmpty = (client, group) => until('the group is empty', async () => (await client.describeGroup(group)).state.toUpperCase() === 'EMPTY')

async function offsetsAre(client, group, topic, wanted) {
  const told = await client.groupOffsets(group, topic)
  const equal = told.size === wanted.length && wanted.every(([partition, offset]) => told.get(partition) === offset)
  require(equal, `offsets ${JSON.stringify([...told])}`)
}

export async function groups(client) {
  const [group, topic] = ['admin-group', 'admin-grouped']
  const reader = await readBy(client, 'the-member', group, topic)
  require((await client.groups()).includes(group), 'the group is not listed')
  const { state, members } = await client.describeGroup(group)
  require(state.toUpperCase() === 'STABLE' && members.length === 1, `described ${state} ${JSON.stringify(members)}`)
  require(members[0].clientId === 'the-member' && members[0].partitions.length === PARTITIONS, `member ${JSON.stringify(members)}`)
  await refused(client, NON_EMPTY_GROUP, client.deleteGroup(group))
  await reader.leave()
  await groupIsEmpty(client, group)
  const wanted = [0, 1, 2, 3, 4, 5].map(partition => [partition, 10])
  await offsetsAre(client, group, topic, wanted)
  await client.setGroupOffset(group, topic, 2, 4)
  wanted[2][1] = 4
  await offsetsAre(client, group, topic, wanted)
  await client.deleteGroup(group)
  require(!(await client.groups()).includes(group), 'the group is still listed')
  await refused(client, GROUP_NOT_FOUND, client.deleteGroup(group))
}

export async function groupOffsetDelete(client) {
  const [group, topic] = ['trimmed-group', 'trimmed-grouped']
  const reader = await readBy(client, 'a-member', group, topic)
  await refused(client, GROUP_SUBSCRIBED, client.deleteGroupOffset(group, topic, 0))
  await reader.leave()
  await groupIsEmpty(client, group)
  await client.deleteGroupOffset(group, topic, 0)
  await offsetsAre(client, group, topic, [1, 2, 3, 4, 5].map(partition => [partition, 10]))
}

export async function offsets(client) {
  await createTopic(client, 'offsets', PARTITIONS)
  await produceNumbers(client, { topic: 'offsets' }, 0, 600)
  const bounds = await client.bounds('offsets')
  require(bounds.size === PARTITIONS && bounds.get(0)[0] === 0 && bounds.get(0)[1] === 100, `bounds ${[...bounds]}`)
  require((await client.offsetsAt('offsets', 1)).get(0) === 0, 'a time before all records')
  const late = (await client.offsetsAt('offsets', Date.now() + DAY_MS)).get(0)
  require(late === -1 || late === 100, `a time after all records gave ${late}`) // one client gives the end for none
}

export async function deleteRecords(client) {
  await createTopic(client, 'trimmed', PARTITIONS)
  await produceNumbers(client, { topic: 'trimmed' }, 0, 600)
  await client.deleteRecords('trimmed', 0, 40)
  const bounds = await client.bounds('trimmed')
  require(String(bounds.get(0)) === '40,100' && String(bounds.get(1)) === '0,100', `bounds ${[...bounds]}`)
  await refused(client, OFFSET_OUT_OF_RANGE, client.deleteRecords('trimmed', 0, 101))
  let left = 0
  await readAll(client, 'trimmed', () => left++)
  require(left === 560, `${left} records are left`)
}
