/** Consumers that are killed lose no message, and repeat only what was under way. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { useAwsClients } from '../harness/aws/aws-clients.ts'
import { useStack } from '../harness/services/stack.ts'
import { nativeQueues, type QueueMaker, sqsQueues } from './consumed-queues.fixture.ts'

const stack = useStack({ workers: 0 })
const aws = useAwsClients(stack)
const makers: QueueMaker[] = [
  nativeQueues(
    () => stack().client,
    () => stack().api.url,
  ),
  sqsQueues(() => aws().sqs, "Fantail's SQS endpoint"),
]
const MESSAGES = 60
const KILLS = 3
const CONCURRENCY = 5

const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

function start(queue: string): ChildProcess {
  const entry = fileURLToPath(new URL('consuming-process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=@fantail/source', entry, queue, stack().redis.url], {
    env: { ...process.env, FANTAIL_URL: stack().api.url },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  children.add(child)
  return child
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
  children.delete(child)
}

test.concurrent.each(makers)(
  'killed consumers on $wire: nothing lost, at most what was under way repeated',
  async (maker) => {
    const { connection } = stack()
    const queue = await maker.create(`killed-${makers.indexOf(maker)}`, { visibilitySeconds: 1 })
    const sent = Array.from({ length: MESSAGES }, (_, i) => `${i}`)
    await Promise.all(sent.map((body) => queue.send(body)))
    const ended = async () => new Set(await connection.lrange(`ended:${queue.source.name}`, 0, -1))
    for (let kills = 0; kills < KILLS; kills++) {
      const child = start(queue.source.name)
      const before = (await ended()).size
      const enough = before + 1 + Math.floor(Math.random() * (MESSAGES / KILLS - CONCURRENCY))
      await waitFor(async () => (await ended()).size >= Math.min(enough, MESSAGES))
      await kill(child, 'SIGKILL')
    }
    const last = start(queue.source.name)
    await waitFor(async () => (await ended()).size === MESSAGES)
    await waitFor(async () => {
      const { visible, inFlight } = await queue.depth()
      return visible + inFlight === 0
    })
    await kill(last, 'SIGTERM')
    const begun = await connection.lrange(`begun:${queue.source.name}`, 0, -1)
    expect(begun.length - new Set(begun).size).toBeLessThanOrEqual(KILLS * CONCURRENCY)
  },
)
