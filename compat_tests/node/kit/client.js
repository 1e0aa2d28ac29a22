// The tests of one Node client. A client is an object with these members; promises everywhere but `assigned`.
//   codecs, without            its codecs; names of the tests that it cannot run
//   nullHeaders                whether it can send a header without a value
//   readsAgain                 whether what was on its way at a rebalance may be read twice
//   code(error)                Kafka's error code inside an error of this client, or 0
//   producer({topic, codec, idempotent, acks})
//     .send(records)           fills in each partition that is undefined; a Map from partition to the offset of its first record
//     .close()
//   read(topic, ends, each)    each record from the start up to the end (Map) of each partition, partitions in their order
//   join({group, topic, clientId, cooperative}, reader)      reads from the start, as kit/groups.js says
//     .assigned() .commit(offsets) .leave()
//   cluster() partitionsOf(topic) createTopic(topic, partitions, configs) validateTopic(topic) addPartitions(topic, total)
//   deleteTopic(topic) topicConfigs(topic) alterTopic(topic, changes) replaceConfigs(topic, configs)
//   bounds(topic) offsetsAt(topic, time) deleteRecords(topic, partition, before)
//   groups() describeGroup(group) groupOffsets(group, topic) setGroupOffset(group, topic, partition, offset)
//   deleteGroupOffset(group, topic, partition) deleteGroup(group)
// Records are {partition, offset, key, value, headers: [[name, value], ...], time}; bytes are Buffers or null, offsets are numbers.
import * as admin from './admin.js'
import * as groups from './groups.js'
import * as produce from './produce.js'
import { runAll } from './run.js'

export async function main(client) {
  if (process.argv[2] === 'crash') return runAll([['crash_client', () => produce.crash(client)]])
  const tests = [
    ['metadata', () => admin.metadata(client)],
    ...client.codecs.map(codec => [`codec_${codec}`, () => produce.codec(client, codec)]),
    ['empty_and_null_values', () => produce.emptyAndNullValues(client)],
    ['plain_acks_0', () => produce.plainAcks(client, 0)],
    ['plain_acks_1', () => produce.plainAcks(client, 1)],
    ['group_join_share_leave_resume', () => groups.joinShareLeaveResume(client, false)],
    ['group_cooperative_members_share', () => groups.joinShareLeaveResume(client, true)],
    ['group_committed_positions_are_resumed', () => groups.committedPositionsAreResumed(client)],
    ['admin_topics', () => admin.topics(client)],
    ['admin_configs', () => admin.configs(client)],
    ['admin_configs_replaced', () => admin.configsReplaced(client)],
    ['admin_groups', () => admin.groups(client)],
    ['admin_group_offset_delete', () => admin.groupOffsetDelete(client)],
    ['admin_offsets', () => admin.offsets(client)],
    ['admin_delete_records', () => admin.deleteRecords(client)],
  ]
  return runAll(tests.filter(([name]) => !client.without.includes(name)))
}
