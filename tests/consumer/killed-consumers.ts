/** Consumers that are killed at random instants, on every kind of queue. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Redis } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect } from 'vitest'
import type { QueueMaker } from './consumed-queues.fixture.ts'

const MESSAGES = 60
const KILLS = 3
const CONCURRENCY = 5
const PATIENCE_MS = 60_000

interface KilledPlace {
  /** Notes what handlers begin and end. */
  connection: Redis
  redisUrl: string
  /** Settings of the consumers. */
  env: Record<string, string>
}

/** Nothing is lost, and only messages that were under way are repeated. */
export async function expectKillsToLoseNothing(
  maker: QueueMaker,
  name: string,
  place: KilledPlace,
): Promise<void> {
  const { connection } = place
  const queue = await maker.create(name, { visibilitySeconds: 1 })
  const sent = Array.from({ length: MESSAGES }, (_, i) => `${i}`)
  await Promise.all(sent.map((body) => queue.send(body)))
  const ended = async () => new Set(await connection.lrange(`ended:${queue.source.name}`, 0, -1))
  for (let kills = 0; kills < KILLS; kills++) {
    const child = start(queue.source.name, place)
    const before = (await ended()).size
    const enough = before + 1 + Math.floor(Math.random() * (MESSAGES / KILLS - CONCURRENCY))
    await waitFor(async () => (await ended()).size >= Math.min(enough, MESSAGES), { timeoutMs: PATIENCE_MS })
    await kill(child, 'SIGKILL')
  }
  const last = start(queue.source.name, place)
  try {
    await waitFor(async () => (await ended()).size === MESSAGES, { timeoutMs: PATIENCE_MS })
    await waitFor(async () => {
      const { visible, inFlight } = await queue.depth()
      return visible + inFlight === 0
    })
  } finally {
    await kill(last, 'SIGTERM')
  }
  const begun = await connection.lrange(`begun:${queue.source.name}`, 0, -1)
  expect(begun.length - new Set(begun).size).toBeLessThanOrEqual(KILLS * CONCURRENCY)
}

function start(queue: string, { redisUrl, env }: KilledPlace): ChildProcess {
  const entry = fileURLToPath(new URL('consuming-process.ts', import.meta.url))
  return spawn(process.execPath, ['--conditions=@fantail/source', entry, queue, redisUrl], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}
