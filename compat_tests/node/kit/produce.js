// Records with each codec, acks, and the crash run.
import { createInterface } from 'node:readline/promises'
import { Places, check, recordOf, same } from './records.js'
import { COUNT, PARTITIONS, require, until, within } from './run.js'

const BATCH = 500

export async function createTopic(client, topic, partitions, configs = {}) {
  await client.createTopic(topic, partitions, configs)
  // Kafka's controller has answered, but its broker may learn of the topic a moment later.
  await until(`${topic} has ${partitions} partitions`, async () => (await client.partitionsOf(topic)) === partitions)
}

/** Sends records(id) for each id, batch after batch; told(record, offset, id) for each that was acknowledged. */
async function sendAll(producer, from, to, record, told = () => {}) {
  for (let first = from; first < to; first += BATCH) {
    const batch = []
    for (let id = first; id < Math.min(first + BATCH, to); id++) batch.push(record(id))
    const next = await producer.send(batch)
    batch.forEach((sent, i) => {
      const offset = next.get(sent.partition)
      next.set(sent.partition, offset + 1)
      told(sent, offset, first + i)
    })
  }
}

/** Each record of a topic up to the ends seen now. */
export async function readAll(client, topic, each) {
  const bounds = await client.bounds(topic)
  const ends = new Map([...bounds].filter(([, [low, high]]) => high > low).map(([partition, [, high]]) => [partition, high]))
  await within(`all of ${topic} is read`, client.read(topic, ends, each))
}

async function readBack(client, topic, codec, each = () => {}) {
  const reads = new Places(`reads-${topic}`)
  const seen = new Set()
  await readAll(client, topic, record => {
    reads.add(record.partition, record.offset, check(client, record, codec))
    seen.add(record.partition)
    each(record)
  })
  reads.close()
  require(seen.size === PARTITIONS, 'the keys do not reach all partitions')
}

export async function codec(client, name) {
  const topic = `codec-${name}`
  await createTopic(client, topic, PARTITIONS)
  const producer = await client.producer({ topic, codec: name, idempotent: true, acks: -1 })
  const acks = new Places(`acks-${topic}`)
  await sendAll(producer, 0, COUNT, id => recordOf(client, id, name), (record, offset, id) => acks.add(record.partition, offset, id))
  await producer.close()
  acks.close()
  const partitionOf = new Map()
  await readBack(client, topic, name, ({ key, partition }) => {
    if (key === null) return
    const known = partitionOf.get(key.toString()) ?? partition
    require(known === partition, `key ${key} is in two partitions`)
    partitionOf.set(key.toString(), partition)
  })
}

/** A tombstone, an empty value and an empty key stay what they are. */
export async function emptyAndNullValues(client) {
  await createTopic(client, 'nulls', 1)
  const empty = Buffer.alloc(0)
  const [key, value] = [Buffer.from('key'), Buffer.from('value')]
  const sent = [[key, null], [key, empty], [empty, value], [null, value]]
  const producer = await client.producer({ topic: 'nulls', idempotent: true, acks: -1 })
  await producer.send(sent.map(([key, value]) => ({ partition: 0, key, value, headers: [] })))
  await producer.close()
  const read = []
  await readAll(client, 'nulls', record => read.push([record.key, record.value]))
  const equal = read.length === sent.length && read.every((pair, i) => same(pair[0], sent[i][0]) && same(pair[1], sent[i][1]))
  require(equal, `read ${JSON.stringify(read)}`)
}

/** acks=1 and acks=0 (which is never answered) bring everything too. */
export async function plainAcks(client, acks) {
  const topic = `acks-${acks}`
  await createTopic(client, topic, 1)
  await produceNumbers(client, { topic, idempotent: false, acks }, 0, 500, 1)
  // With acks=0 the client is done when the bytes are in its socket; the broker may still be reading them.
  await until('all 500 are there', async () => (await client.bounds(topic)).get(0)[1] === 500)
  const read = []
  await readAll(client, topic, record => read.push(numberIn(record)))
  require(read.length === 500 && read.every((number, i) => number === i), `read ${read}`)
}

export const numberIn = record => Number(record.value.toString())

/** The numbers as values, each to the partition that is its remainder. */
export async function produceNumbers(client, config, first, count, partitions = PARTITIONS) {
  const producer = await client.producer({ idempotent: true, acks: -1, ...config })
  await sendAll(producer, first, first + count, number => (
    { partition: number % partitions, key: null, value: Buffer.from(String(number)), headers: [] }))
  await producer.close()
}

export async function crash(client) {
  const [total, gate] = [Number(process.env.WEIR_CRASH_TOTAL), Number(process.env.WEIR_CRASH_GATE)]
  await createTopic(client, 'crash', PARTITIONS)
  const producer = await client.producer({ topic: 'crash', codec: 'lz4', idempotent: true, acks: -1 })
  const acks = new Places('acks-crash')
  const told = (record, offset, id) => {
    acks.add(record.partition, offset, id)
    if (acks.count % BATCH === 0) console.log(`ACKED ${acks.count}`)
  }
  await sendAll(producer, 0, gate, id => recordOf(client, id, 'lz4'), told)
  const lines = createInterface({ input: process.stdin })
  const line = await lines.question('')
  lines.close()
  require(line === 'KILLED', `the harness said ${line}`)
  await sendAll(producer, gate, total, id => recordOf(client, id, 'lz4'), told)
  await producer.close()
  acks.close()
  await readBack(client, 'crash', 'lz4')
}
