/** The statistics equal the requests that receivers got, and recordings send no Redis command per message. */
import { AttemptStore, KeptMessages, StatsStore } from '@fantail/store'
import { startCountingProxy, waitFor, watchCommands } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, createMessage, DLQ, TOPIC, urlOf, useFixture } from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()
const MESSAGES = 200
const SCRIPT = 'ft:{stats}:'
const JOBS = 25
const PER_JOB = 40

async function read(kind: 't' | 's' | 'a', name: string) {
  const request = { kind, names: [name], step: 'minute', steps: 1_440, now: Date.now() } as const
  const { published, delivered, failed, deadLettered } = await new StatsStore(fixture.redis).read(request)
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  return {
    published: sum(published),
    delivered: sum(delivered),
    failed: sum(failed),
    deadLettered: sum(deadLettered),
  }
}

test('delivered, failed and dead-lettered are exact over two workers that stop', async () => {
  await fixture.queues.put(DLQ, {})
  const redrivePolicy = { deadLetterTargetArn: DLQ }
  const deliveryPolicy = { healthyRetryPolicy: { numRetries: 3, numNoDelayRetries: 3 } }
  const ok = await fixture.subscribe('ok')
  const gone = await fixture.subscribe('gone', { redrivePolicy })
  const shaky = await fixture.subscribe('shaky', { deliveryPolicy })
  const sender = createFakeSender()
  const tried = new Map<string, number>()
  const statuses = new Map<string, number[]>()
  sender.answer = (url) => {
    const id = sender.sent.at(-1)?.messageId ?? ''
    const n = (tried.get(url + id) ?? 0) + 1
    tried.set(url + id, n)
    const status = url === urlOf('ok') ? 200 : url === urlOf('gone') ? 404 : n < 3 ? 503 : 200
    statuses.set(url, [...(statuses.get(url) ?? []), status])
    return status
  }
  const workers = [await fixture.startWorker(sender), await fixture.startWorker(sender)]
  for (let n = 0; n < MESSAGES; n += 20)
    await fixture.publishAll(Array.from({ length: 20 }, (_, i) => `${n + i}`))
  const count = (name: string, status: number) =>
    (statuses.get(urlOf(name)) ?? []).filter((answered) => answered === status).length
  await waitFor(() => count('ok', 200) === MESSAGES && count('shaky', 200) === MESSAGES)
  await waitFor(async () => (await fixture.counts.read()).deadLettered === MESSAGES)
  await Promise.all(workers.map((worker) => worker.stop()))

  const none = { published: 0, delivered: 0, failed: 0, deadLettered: 0 }
  expect(await read('s', ok.id)).toEqual({ ...none, delivered: MESSAGES })
  const failedAtGone = count('gone', 404)
  expect(await read('s', gone.id)).toEqual({ ...none, failed: failedAtGone, deadLettered: MESSAGES })
  const failedAtShaky = count('shaky', 503)
  expect(failedAtShaky).toBe(2 * MESSAGES)
  expect(await read('s', shaky.id)).toEqual({ ...none, delivered: MESSAGES, failed: failedAtShaky })
  const all = {
    ...none,
    delivered: 2 * MESSAGES,
    failed: failedAtGone + failedAtShaky,
    deadLettered: MESSAGES,
  }
  expect(await read('t', TOPIC)).toEqual(all)
  expect(await read('a', '000000000000')).toEqual(all)
})

test('many deliveries take one script more, and not one each', async () => {
  await fixture.subscribe('ok')
  const scripts: string[][] = []
  const proxy = await startCountingProxy(fixture.server.port, (commands) => {
    scripts.push(...commands.filter((command) => command.includes(SCRIPT)))
  })
  const sender = createFakeSender()
  const worker = await fixture.startWorker(sender, { redisUrl: proxy.url })
  const startedAt = performance.now()
  for (let n = 0; n < 50; n++) await fixture.publishAll(Array.from({ length: 10 }, (_, i) => `${n} ${i}`))
  await waitFor(() => sender.sent.length === 500)
  await worker.stop()
  proxy.stop()
  // The expected number of writes: one every five seconds, one at the end of a minute, one at the stop. Each may be
  // sent once more as EVAL.
  const elapsedSeconds = (performance.now() - startedAt) / 1_000
  expect(scripts.length).toBeGreaterThan(0)
  expect(scripts.length).toBeLessThanOrEqual(2 * (3 + elapsedSeconds / 5))
  expect((await read('t', TOPIC)).delivered).toBe(500)
})

/** Redis commands of each kind while a worker delivers the messages and stops. Those inside scripts count too. */
async function commandsFor(name: string, settings: Parameters<typeof fixture.topics.put>[1]) {
  const topicArn = TOPIC.replace('orders', name)
  await fixture.topics.put(topicArn, settings)
  const { id } = await fixture.subscribe(`${name}-a`, { topicArn })
  await fixture.subscribe(`${name}-b`, { topicArn })
  const seen = await watchCommands(fixture.redis)
  const sender = createFakeSender()
  const worker = await fixture.startWorker(sender, { attemptRecordBytes: 16_777_216 })
  for (let job = 1; job <= JOBS; job++) {
    const messages = Array.from({ length: PER_JOB }, (_, n) => createMessage(`${job} ${n}`, topicArn))
    await fixture.publisher.publish(messages, { bytes: 300 * PER_JOB, fanOut: 2 })
    await waitFor(() => sender.sent.length === job * PER_JOB * 2, { intervalMs: 1 })
  }
  await worker.stop()
  const commands = (await seen()).map(({ words }) => words).filter((words) => !isOfCheckpoint(words))
  const calls = new Map([...Map.groupBy(commands, kindOf)].map(([kind, { length }]) => [kind, length]))
  const ring = await new KeptMessages(fixture.redis).page(topicArn, { before: null, messagesMax: 1 })
  return { calls, records: (await new AttemptStore(fixture.redis).read(id)).length, kept: ring?.total ?? 0 }
}

/**
 * A run that is older than 25 ms notes each settled message in its checkpoint. How many do that depends on the
 * machine's speed.
 */
const isOfCheckpoint = ([, key = '']: string[]) => key.includes(':checkpoint:')

/** For example `hset kept`. Keys of one kind begin with the same word, whatever ids follow. */
function kindOf([name = '', ...args]: string[]): string {
  const key = /^eval/i.test(name) ? args[2] : args[0]
  return `${name.toLowerCase()} ${/^ft:\{[^}]*\}:([a-z]*)/.exec(key ?? '')?.[1] ?? ''}`.trim()
}

/** Rounding removes what a worker does by time or by job. A command for each message would show as 1. */
function perMessage(calls: Map<string, number>, without = new Map<string, number>()) {
  const added = [...calls].map(([kind, n]): [string, number] => {
    return [kind, Math.round((n - (without.get(kind) ?? 0)) / (JOBS * PER_JOB))]
  })
  return Object.fromEntries(added.filter(([, n]) => n !== 0))
}

test('statistics, recorded attempts and kept messages add no Redis command per message', async () => {
  const plain = await commandsFor('plain', { recordAttempts: 'none' })
  const recorded = await commandsFor('recorded', { recordAttempts: 'all' })
  const keepMessages = { seconds: 60, bytes: 10_485_760 }
  const kept = await commandsFor('kept', { recordAttempts: 'all', keepMessages })
  expect(perMessage(plain.calls)).toEqual({})
  expect(perMessage(recorded.calls, plain.calls)).toEqual({})
  expect(perMessage(kept.calls, plain.calls)).toEqual({})
  expect([plain.records, plain.kept, recorded.kept, kept.kept]).toEqual([0, 0, 0, JOBS * PER_JOB])
  expect(Math.min(recorded.records, kept.records)).toBeGreaterThan(0)
  expect((await read('t', TOPIC.replace('orders', 'plain'))).delivered).toBe(2 * JOBS * PER_JOB)
})
