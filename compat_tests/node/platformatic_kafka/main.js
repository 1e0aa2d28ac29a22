// The @platformatic/kafka client under test: Producer, Consumer with its stream. The admin calls are in admin.js.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Consumer, Producer, defaultPartitioner } from '@platformatic/kafka'
import { main } from '../kit/client.js'
import { STEP } from '../kit/groups.js'
import { BROKER, PARTITIONS, inside } from '../kit/run.js'
import { makeAdmin } from './admin.js'

const base = clientId => ({ clientId, bootstrapBrokers: [BROKER], timeout: 30_000, retryDelay: 100, strict: true })

function makeProducer({ topic, codec = 'none', idempotent = false, acks }) {
  const producer = new Producer({ ...base('producer'), idempotent })
  // It does not tell where its round robin put a record without a key, so the tests spread these.
  let turn = 0
  const placeOf = key => (key ? defaultPartitioner(null, key) : turn++) % PARTITIONS
  return {
    async send(records) {
      const messages = records.map(({ partition, key, value, headers }) => ({
        topic, partition, key, value,
        headers: new Map(headers.map(([name, value]) => [Buffer.from(name), value])), // Buffers differ, so two of one name fit
      }))
      messages.forEach((message, i) => (records[i].partition = message.partition ??= placeOf(message.key)))
      const { offsets = [] } = await producer.send({ messages, acks, compression: codec })
      return new Map(offsets.map(({ partition, offset }) => [partition, Number(offset)]))
    },
    close: () => producer.close(),
  }
}

const fromMessage = ({ partition, offset, key, value, headerEntries, timestamp }) => ({
  partition, offset: Number(offset), key: key ?? null, value: value ?? null, time: Number(timestamp),
  headers: headerEntries.map(([name, value]) => [name.toString(), value ?? null]),
})

function newConsumer(clientId, groupId, more = {}) {
  const quick = { maxWaitTime: 100, heartbeatInterval: 200, sessionTimeout: 30_000, rebalanceTimeout: 60_000, retries: 20 }
  return new Consumer({ ...base(clientId), groupId, autocommit: false, ...quick, ...more })
}

/** It reads in groups only: a group of its own. */
async function read(topic, ends, each) {
  if (ends.size === 0) return
  const consumer = newConsumer('reader', `reader-${randomUUID()}`)
  try {
    const left = new Map(ends)
    for await (const message of await consumer.consume({ topics: [topic], mode: 'earliest' })) {
      const { partition, offset } = message
      if (!left.has(partition)) continue
      each(fromMessage(message))
      if (Number(offset) + 1 >= left.get(partition)) left.delete(partition)
      if (left.size === 0) break
    }
  } finally {
    await consumer.close(true)
  }
}

/** After a rebalance its stream gives what it had fetched before, and then the same again: what this member knows is left out. */
class Member {
  #consumer
  #stream
  #topic
  #reader
  #next = new Map()
  #leaving = Promise.withResolvers()
  #ended

  static async join({ group, topic, clientId = 'member', cooperative }, reader) {
    const member = new Member()
    const protocols = cooperative ? { protocols: [{ name: 'cooperative-sticky', version: 1 }] } : {}
    member.#consumer = newConsumer(clientId, group, protocols)
    member.#topic = topic
    member.#reader = reader
    member.#stream = await member.#consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest' })
    member.#stream.on('readable', () => {}) // without a listener it stops fetching
    member.#ended = member.#readOn()
    return member
  }

  assigned() {
    return this.#consumer.assignments?.find(({ topic }) => topic === this.#topic)?.partitions ?? []
  }

  commit(offsets) {
    const one = ([partition, offset]) => ({ topic: this.#topic, partition, offset: BigInt(offset), leaderEpoch: -1 })
    return this.#consumer.commit({ offsets: [...offsets].map(one) })
  }

  async leave() {
    this.#leaving.resolve()
    await this.#ended
    await this.#consumer.close(true)
  }

  async #readOn() {
    while (await this.#reader.room()) {
      const part = this.#some()
      if (part.length > 0) {
        const offsets = new Map(part.map(({ partition, offset }) => [partition, offset + 1]))
        // What was handed out and not committed is read twice at worst; committed and not handed out would be lost.
        await this.commit(offsets).catch(error => console.error('commit:', error))
        offsets.forEach((offset, partition) => this.#next.set(partition, offset))
        this.#reader.take(part)
      } else if (this.#stream.readableLength === 0) {
        await Promise.race([once(this.#stream, 'readable'), this.#leaving.promise])
      }
    }
  }

  #some() {
    const mine = new Set(this.assigned())
    const part = []
    for (let message; part.length < STEP && (message = this.#stream.read()) !== null; ) {
      if (mine.has(message.partition) && Number(message.offset) >= (this.#next.get(message.partition) ?? 0)) part.push(fromMessage(message))
    }
    return part
  }
}

await main({
  codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
  without: [],
  nullHeaders: true,
  readsAgain: true,
  code: error => inside(error, 'apiCode') ?? 0,
  producer: makeProducer,
  read,
  join: Member.join,
  ...makeAdmin(base('admin')),
})
