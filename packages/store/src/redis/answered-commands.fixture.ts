/**
 * A process that prints, for three ways to ask Redis, how many bytes of each answered command are left in the old
 * generation (one-write.test.ts). A command that is kept leaves its bytes in every round. Other work of the process,
 * such as code that is compiled, at times adds a third of a megabyte to a round, and seldom frees as much. So the round
 * with the second smallest growth counts.
 */
import { getHeapSpaceStatistics } from 'node:v8'
import { connect, whenReady } from '../index.ts'

const ROUNDS = 5
const COMMANDS = 500

const collect = (globalThis as unknown as { gc(options: { type: 'minor' | 'major' }): void }).gc
const redis = connect({ url: process.argv[2] ?? '', name: 'test' })
await whenReady(redis)
await redis.set('key', 'x'.repeat(1_000))
redis.defineCommand('readByScript', { numberOfKeys: 1, lua: "return redis.call('GET', KEYS[1])" })
const { readByScript } = redis as unknown as { readByScript(key: string): Promise<string> }
const asks = [
  () => redis.get('key'),
  () => readByScript.call(redis, 'key'),
  () => redis.multi().get('key').exec(),
]
const grown: (number | undefined)[] = []
for (const ask of asks) {
  const rounds: number[] = []
  while (rounds.length < ROUNDS) {
    collect({ type: 'major' })
    const before = oldBytes()
    for (let n = 0; n < COMMANDS; n++) await ask()
    collect({ type: 'minor' })
    collect({ type: 'minor' })
    rounds.push((oldBytes() - before) / COMMANDS)
  }
  grown.push(rounds.toSorted((a, b) => a - b)[1])
}
redis.disconnect()
console.log(JSON.stringify(grown))

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
  return old?.space_used_size ?? Number.NaN
}
