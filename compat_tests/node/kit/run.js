// What the tests of the Node clients share: the settings, waits, and the line protocol with the harness (harness/program.py).
import { setTimeout as pause } from 'node:timers/promises'

const WAIT_MS = 60_000
const PAUSE_MS = 20

export const PARTITIONS = 6
export const BROKER = process.env.WEIR_BROKER
export const OUT = process.env.WEIR_OUT
export const SEED = Number(process.env.WEIR_SEED)
export const COUNT = Number(process.env.WEIR_COUNT)

// What a test has to say when it fails; any other error is shown with its stack.
class Wrong extends Error {}

export function require(condition, sentence) {
  if (!condition) throw new Wrong(sentence)
}

// What fails outside of a test's own calls, in a member that reads on by itself, fails the test that waits for it.
let behind = null
for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, error => (behind ??= error))

function raiseBehind() {
  const error = behind
  behind = null
  if (error) throw error
}

export async function until(sentence, condition) {
  for (const end = Date.now() + WAIT_MS; !(await condition()); ) {
    raiseBehind()
    require(Date.now() < end, `not within ${WAIT_MS / 1000} s: ${sentence}`)
    await pause(PAUSE_MS) // between two looks, bounded by the deadline
  }
}

/** Bounds what a client may take for one call of ours. */
export async function within(sentence, work) {
  const late = new AbortController()
  const limit = pause(WAIT_MS, null, { signal: late.signal }).then(() => require(false, `not within ${WAIT_MS / 1000} s: ${sentence}`))
  try {
    return await Promise.race([work, limit])
  } finally {
    limit.catch(() => {})
    late.abort()
  }
}

/** The first number named `field` anywhere inside an error: clients wrap the broker's answer many levels deep. */
export function inside(error, field, seen = new Set()) {
  if (typeof error !== 'object' || error === null || seen.has(error)) return undefined
  seen.add(error)
  if (typeof error[field] === 'number') return error[field]
  for (const name of Object.getOwnPropertyNames(error)) {
    const found = inside(error[name], field, seen)
    if (found !== undefined) return found
  }
  return undefined
}

async function runTest(name, body) {
  const start = performance.now()
  let detail = ''
  try {
    await body()
    raiseBehind()
  } catch (error) {
    detail = ' ' + (error instanceof Wrong ? error.message : (error.stack ?? String(error))).replaceAll('\n', ' | ')
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`TEST ${name} ${detail ? 'FAIL' : 'PASS'} ${seconds}${detail}`)
  return !detail
}

/** `tests` is [name, body] for each. Ends the process: clients may keep timers and sockets. */
export async function runAll(tests) {
  let failed = false
  for (const [name, body] of tests) failed = !(await runTest(name, body)) || failed
  // Only when stdout is written: it is a pipe.
  process.stdout.write('', () => process.exit(failed ? 1 : 0))
}
