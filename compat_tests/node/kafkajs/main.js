// The kafkajs client under test: Producer, Consumer with eachBatch. The admin calls are in admin.js.
import { randomUUID } from 'node:crypto'
import kafkajs from 'kafkajs'
import { main } from '../kit/client.js'
import { STEP } from '../kit/groups.js'
import { BROKER, inside } from '../kit/run.js'
import { addCodecs } from './codecs.js'
import { makeAdmin } from './admin.js'

const { CompressionTypes, Kafka, Partitioners, logLevel } = kafkajs
addCodecs(kafkajs)

const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy, lz4: CompressionTypes.LZ4, zstd: CompressionTypes.ZSTD }

// By default it gives up after five retries in about ten seconds.
const ENDLESS = { initialRetryTime: 100, maxRetryTime: 500, retries: Number.MAX_SAFE_INTEGER }

const newClient = (clientId, retry = ENDLESS) => new Kafka({ clientId, brokers: [BROKER], retry, logLevel: logLevel.NOTHING })

/** The client's own partitioner, asked once for each record: a batch that is sent again goes where it went before. */
function remembering() {
  const choose = Partitioners.DefaultPartitioner()
  return asked => (asked.message.partition ??= choose(asked))
}

async function makeProducer({ topic, codec = 'none', idempotent = false, acks }) {
  const producer = newClient('producer').producer({ idempotent, createPartitioner: remembering, retry: ENDLESS, allowAutoTopicCreation: false })
  await producer.connect()
  return {
    async send(records) {
      for (const record of records) record.headers = headersOut(record.headers)
      const told = await producer.send({ topic, acks, compression: CODECS[codec], messages: records })
      return new Map(told.map(({ partition, baseOffset }) => [partition, Number(baseOffset)]))
    },
    close: () => producer.disconnect(),
  }
}

// Headers are an object here; two of one name are an array.
function headersOut(headers) {
  const object = {}
  for (const [name, value] of headers) object[name] = name in object ? [object[name], value].flat() : value
  return object
}

const headersIn = headers => Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => [name, one]))

const fromMessage = (partition, { offset, key, value, headers, timestamp }) =>
  ({ partition, offset: Number(offset), key, value, headers: headersIn(headers), time: Number(timestamp) })

function newConsumer(clientId, groupId) {
  const quick = { maxWaitTimeInMs: 100, heartbeatInterval: 200, sessionTimeout: 30_000 }
  return newClient(clientId).consumer({ groupId, ...quick, allowAutoTopicCreation: false })
}

/** It reads in groups only: a group of its own. */
async function read(topic, ends, each) {
  const consumer = newConsumer('reader', `reader-${randomUUID()}`)
  const left = new Map(ends)
  try {
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await new Promise((resolve, reject) => {
      if (left.size === 0) resolve()
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
      const eachBatch = async ({ batch: { partition, messages } }) => {
        for (const message of messages) {
          if (!left.has(partition)) return
          try {
            each(fromMessage(partition, message))
          } catch (error) {
            reject(error) // else the client would retry it
          }
          if (Number(message.offset) + 1 >= left.get(partition)) left.delete(partition)
        }
        if (left.size === 0) resolve()
      }
      consumer.run({ autoCommit: false, eachBatch }).catch(reject)
    })
  } finally {
    await consumer.disconnect()
  }
}

async function join({ group, topic, clientId = 'member' }, reader) {
  const consumer = newConsumer(clientId, group)
  const commitOf = (partition, offset) => ({ topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }] })
  let assigned = []
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => (assigned = payload.memberAssignment[topic] ?? []))
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    eachBatch: async ({ batch: { partition, messages }, resolveOffset, commitOffsetsIfNecessary, heartbeat, isRunning, isStale }) => {
      for (let at = 0; at < messages.length; at += STEP) {
        if (!(await reader.room()) || !isRunning() || isStale()) return
        const part = messages.slice(at, at + STEP)
        const last = part.at(-1).offset
        await commitOffsetsIfNecessary(commitOf(partition, Number(last) + 1))
        resolveOffset(last)
        reader.take(part.map(message => fromMessage(partition, message)))
        await heartbeat() // throws when the group rebalances
      }
    },
  })
  return {
    assigned: () => assigned,
    commit: offsets => consumer.commitOffsets([...offsets].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }))),
    leave: () => consumer.disconnect(),
  }
}

await main({
  codecs: Object.keys(CODECS),
  without: ['group_cooperative_members_share', 'admin_configs', 'admin_group_offset_delete'],
  nullHeaders: false,
  readsAgain: false,
  code: error => inside(error, 'code') ?? 0,
  producer: makeProducer,
  read,
  join,
  ...(await makeAdmin(newClient('admin', { initialRetryTime: 50, retries: 4 }), kafkajs)),
})
