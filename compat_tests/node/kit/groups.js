// Members of a group. A member asks its Reader for room, commits what it is about to hand out, and then hands it out: so
// what a member has read is committed, and what is not committed was not read.
import { setTimeout as pause } from 'node:timers/promises'
import { createTopic, numberIn, produceNumbers } from './produce.js'
import { PARTITIONS, require, until, within } from './run.js'

const THIRD = 3_000
const PAUSE_MS = 5
/** How many records a member hands out at once, at most. */
export const STEP = 100

export class Reader {
  reads = []
  #most
  #left = false

  constructor(most) {
    this.#most = most
  }

  /** Waits while the test wants no more of it; false when the member leaves. */
  async room() {
    while (!this.#left && this.reads.length >= this.#most) await pause(PAUSE_MS) // ends with leave(), which the test bounds
    return !this.#left
  }

  take(records) {
    this.reads.push(...records)
  }

  async leave() {
    this.#left = true
    await within('the member leaves', this.member.leave())
  }
}

export async function join(client, config, most = Infinity) {
  const reader = new Reader(most)
  reader.member = await within('the member starts', client.join(config, reader))
  return reader
}

const has = (reader, count) => reader.member.assigned().length === count

/** Three members in turn read three thirds; nothing is left out, and nothing read twice but what the client says. */
export async function joinShareLeaveResume(client, cooperative) {
  const name = cooperative ? 'cooperative' : 'grouped'
  const config = { group: name, topic: name, cooperative }
  await createTopic(client, name, PARTITIONS)
  await produceNumbers(client, { topic: name }, 0, THIRD)
  // It stops in the middle: what it has not read is for the next members.
  const first = await join(client, config, 2_000)
  await until('the first member has read 2,000', () => first.reads.length >= 2_000)
  await first.leave()
  require(first.reads.length < THIRD, `the first member read ${first.reads.length}`)
  const second = await join(client, config)
  const last = await join(client, config)
  await until('two members share 3 and 3', () => has(second, PARTITIONS / 2) && has(last, PARTITIONS / 2))
  await produceNumbers(client, { topic: name }, THIRD, THIRD)
  const read = () => new Set([first, second, last].flatMap(reader => reader.reads.map(numberIn)))
  await until('two thirds are read', () => read().size === 2 * THIRD)
  require(second.reads.length > 0 && last.reads.length > 0, 'one of the two members read nothing')
  await last.leave()
  await until('the member that stays has all', () => has(second, PARTITIONS))
  await produceNumbers(client, { topic: name }, 2 * THIRD, THIRD)
  await until('all is read', () => read().size === 3 * THIRD)
  await second.leave()
  const reads = first.reads.length + second.reads.length + last.reads.length
  require(client.readsAgain || reads === 3 * THIRD, `${reads} reads of ${3 * THIRD} records`)
}

/** Commits behind what was read, in some partitions only: the next member begins there. */
export async function committedPositionsAreResumed(client) {
  const config = { group: 'resuming', topic: 'resumed' }
  await createTopic(client, 'resumed', PARTITIONS)
  await produceNumbers(client, { topic: 'resumed' }, 0, 600)
  const first = await join(client, config)
  await until('all is read', () => first.reads.length === 600)
  const wanted = new Map([[0, 7], [1, 50], [2, 100], [3, 0], [4, 0], [5, 99]])
  await first.member.commit(wanted)
  await first.leave()
  const told = await client.groupOffsets('resuming', 'resumed')
  require([...wanted].every(([partition, offset]) => told.get(partition) === offset), `committed ${JSON.stringify([...told])}`)
  const next = await join(client, config)
  const rest = 600 - [...wanted.values()].reduce((sum, offset) => sum + offset, 0)
  await until('the rest is read', () => next.reads.length >= rest)
  const starts = new Map()
  for (const { partition, offset } of next.reads) starts.set(partition, Math.min(offset, starts.get(partition) ?? offset))
  const right = [...wanted].every(([partition, offset]) => starts.get(partition) === (offset === 100 ? undefined : offset))
  require(right && next.reads.length === rest, `begins at ${JSON.stringify([...starts])}, ${next.reads.length} reads`)
  await next.leave()
}
