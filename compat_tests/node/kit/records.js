// The records, by the formulas of harness/records.py, and the files of lines `partition offset id`.
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { OUT, SEED, require } from './run.js'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.repeat(13)

const keyOf = id => (id % 50 === 49 ? null : Buffer.from(`key-${(id * 31) % 499}`))

function valueOf(id) {
  const first = id % 26
  return Buffer.from(`value-${id}-${LETTERS.slice(first, first + ((id * 7919 + SEED) % 300))}`)
}

function headersOf(client, id, codec) {
  const headers = [
    ['id', Buffer.from(String(id))],
    ['codec', Buffer.from(codec)],
    ['same', Buffer.from('first')],
    ['same', Buffer.from('second')],
    ['empty', Buffer.alloc(0)],
    ['null', null],
  ]
  return client.nullHeaders ? headers : headers.slice(0, -1)
}

export const recordOf = (client, id, codec) => ({ key: keyOf(id), value: valueOf(id), headers: headersOf(client, id, codec) })

export const same = (read, sent) => (read === null || sent === null ? read === sent : read.equals(sent))

/** The id of a record whose key, value and headers are those that this id must have. */
export function check(client, record, codec) {
  const id = Number(record.value.toString().split('-', 2)[1])
  require(Number.isInteger(id), `not one of our values: ${record.value}`)
  require(same(record.key, keyOf(id)), `record ${id} has the key ${record.key}`)
  require(same(record.value, valueOf(id)), `record ${id} has the value ${record.value}`)
  require(record.time > 0, `record ${id} has no timestamp`)
  const wanted = headersOf(client, id, codec)
  const equal = record.headers.length === wanted.length &&
    record.headers.every(([name, value], i) => name === wanted[i][0] && same(value, wanted[i][1]))
  require(equal, `record ${id} has the headers ${JSON.stringify(record.headers)}`)
  return id
}

export class Places {
  #file
  #lines = []
  count = 0

  constructor(name) {
    this.#file = openSync(join(OUT, `${name}.txt`), 'w')
  }

  add(partition, offset, id) {
    this.#lines.push(`${partition} ${offset} ${id}\n`)
    this.count++
  }

  close() {
    writeSync(this.#file, this.#lines.join(''))
    closeSync(this.#file)
  }
}
