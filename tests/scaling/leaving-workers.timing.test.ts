/**
 * The work of a killed worker continues elsewhere. Its jobs and waiting lanes do so within 5 s. Attempts from a lane
 * that were under way are repeated within 20 s, when their leases have ended. A stopped worker hands over at once.
 */
import { waitFor } from '@fantail/test-kit'
import { afterEach, describe, expect, test } from 'vitest'
import { Ledger } from '../harness/ledgers/ledger.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { type Stalls, watchStalls } from '../harness/runs/stalls.ts'
import { type Stack, useStack } from '../harness/services/stack.ts'
import { type HeldEndpoint, holdEndpoint } from './held-endpoint.ts'

const WAITING_MS_MAX = 5_000
const CLAIMED_MS_MAX = 20_000
const HANDOVER_MS_MAX = 1_000
/** Attempts that a worker makes at a time for a new subscription. */
const ALLOWANCE = 4
const SUBSCRIPTIONS = 10

const receiver = useReceiver()

const paths = (topic: string) => Array.from({ length: SUBSCRIPTIONS }, (_, i) => `/${topic}/${i}`)

function open(stack: Stack, topic: string): Promise<Ledger> {
  const subscriptions = Object.fromEntries(paths(topic).map((path) => [path, {}]))
  return Ledger.open({ stack, receiver: receiver(), topic, subscriptions })
}

/** Epoch ms, like the times of the receiver. */
const now = () => performance.timeOrigin + performance.now()

/**
 * One after the other, so that each message is a job of its own, and only when all workers wait for a job. They then
 * get the jobs in turn. A worker that has just fetched a job asks for more before it waits, and may get those of the
 * others.
 */
async function publish({ connection, workers }: Stack, ledger: Ledger, count: number): Promise<void> {
  const waiting = async () =>
    Number(/^blocked_clients:(\d+)/m.exec(await connection.info('clients'))?.[1]) >= workers.length
  for (let n = 0; n < count; n++) {
    await waitFor(waiting, { what: 'all workers to wait for a job', intervalMs: 1 })
    await ledger.publish(`m${n}`)
  }
}

const untilInFlight = (held: HeldEndpoint, count: number) =>
  waitFor(() => held.requests().length >= count, { what: `${count} attempts in flight`, intervalMs: 1 })

/** Must be called while all services run, because it needs their pids. */
const watch = (stack: Stack, onEnd?: Parameters<typeof watchStalls>[1]) =>
  watchStalls([stack.redis.pid(), ...stack.services().map(({ pid }) => pid)], onEnd)

/** Ms from `since` until the last of the requests, without times in which a process waited for a processor. */
const lastMs = (requests: { at: number }[], since: number, stalls: Stalls) =>
  Math.max(0, ...requests.map(({ at }) => at - since - stalls.covered(since, at)))

/**
 * Waits until nothing is pending. Counts the attempts after `since`: repeated ones (`again`) and first ones (`first`).
 * Also returns how many ms after `since` the last of each began, without waits for a processor.
 */
async function lastBegun(ledger: Ledger, held: HeldEndpoint, since: number, stalls: Stalls) {
  await ledger.whenSettled({ timeoutMs: 40_000 })
  const { again, first } = held.since(since)
  const last = (requests: { at: number }[]) => lastMs(requests, since, stalls)
  return { again: again.length, first: first.length, againMs: last(again), firstMs: last(first) }
}

describe('jobs and what is handed over', () => {
  const stack = useStack({ workers: 2 })
  afterEach(async () => {
    await Promise.all(
      stack()
        .workers.filter((worker) => !worker.running)
        .map((worker) => worker.start()),
    )
  })

  test('jobs that a killed worker was running move again within 5 s', async () => {
    const ledger = await open(stack(), 'jobs')
    const held = holdEndpoint(receiver(), '/jobs/')
    await publish(stack(), ledger, 2 * ALLOWANCE + 4)
    await untilInFlight(held, 2 * ALLOWANCE * SUBSCRIPTIONS)
    const stalls = watch(stack())
    await stack().worker(0).kill()
    const begun = await lastBegun(ledger, held, held.release(), stalls)
    expect(begun.again).toBeGreaterThan(0)
    expect(begun.first).toBeGreaterThan(0)
    expect(Math.max(begun.againMs, begun.firstMs)).toBeLessThan(WAITING_MS_MAX)
  }, 60_000)

  test('a worker that is stopped hands over unsent deliveries within a second, and repeats none', async () => {
    const ledger = await open(stack(), 'stopped')
    const held = holdEndpoint(receiver(), '/stopped/')
    await publish(stack(), ledger, 2 * ALLOWANCE + 4)
    await untilInFlight(held, 2 * ALLOWANCE * SUBSCRIPTIONS)
    const stalls = watch(stack())
    const toldAt = now()
    const stopped = stack().worker(0).stop()
    // At this early time, only deliveries that a worker has handed over wait in lanes.
    await waitFor(async () => (await ledger.account()).waiting > 0, { intervalMs: 1 })
    held.release()
    const begun = await lastBegun(ledger, held, toldAt, stalls)
    expect(begun).toMatchObject({ again: 0, first: 4 * SUBSCRIPTIONS })
    expect(begun.firstMs).toBeLessThan(HANDOVER_MS_MAX)
    expect(await stopped).toBe(0)
  }, 60_000)
})

// Both tests wait many seconds for leases to end. So they run at the same time, each on its own stack.
describe.concurrent('lanes', () => {
  const stack = useStack({ workers: 2 })

  test('waiting deliveries of a backlog move within 5 s of a kill, and those being sent within 20 s', async ({
    onTestFinished,
  }) => {
    const ledger = await open(stack(), 'lanes')
    const held = holdEndpoint(receiver(), '/lanes/')
    const change = (what: string) =>
      Promise.all(
        ledger.subscriptions.map(({ id }) => stack().client.post(`/v1/subscriptions/${id}/${what}`, {})),
      )
    await change('pause')
    await publish(stack(), ledger, 2 * ALLOWANCE + 4)
    await waitFor(async () => (await ledger.account()).waiting === SUBSCRIPTIONS * (2 * ALLOWANCE + 4))
    await change('resume')
    await untilInFlight(held, 2 * ALLOWANCE * SUBSCRIPTIONS)
    const stalls = watch(stack(), onTestFinished)
    await stack().worker(0).kill()
    const begun = await lastBegun(ledger, held, held.release(), stalls)
    expect(begun.again).toBeGreaterThan(0)
    expect(begun.first).toBeGreaterThan(0)
    expect(begun.firstMs).toBeLessThan(WAITING_MS_MAX)
    expect(begun.againMs).toBeLessThan(CLAIMED_MS_MAX)
  }, 90_000)
})

describe.concurrent('FIFO groups', () => {
  const stack = useStack({ workers: 2 })

  test('a FIFO group whose head a killed worker was sending goes on within 20 s, in order', async ({
    onTestFinished,
  }) => {
    const { client } = stack()
    const groups = Array.from({ length: 2 * ALLOWANCE }, (_, i) => `g${i}`)
    const held = holdEndpoint(receiver(), '/heads')
    await client.put('/v1/topics/heads.fifo', { contentBasedDeduplication: true })
    const endpoint = `${receiver().url}/heads`
    await client.post('/v1/topics/heads.fifo/subscriptions', { endpoint, rawMessageDelivery: true })
    for (const turn of [0, 1, 2])
      for (const groupId of groups)
        await client.post('/v1/topics/heads.fifo/messages', { message: `${groupId}-${turn}`, groupId })
    await untilInFlight(held, groups.length)
    const stalls = watch(stack(), onTestFinished)
    await stack().worker(0).kill()
    const killedAt = held.release()
    const texts = () => [...new Set(held.requests().map(({ text }) => text))]
    await waitFor(() => texts().length === 3 * groups.length, { what: 'every group', timeoutMs: 40_000 })
    const { again, first } = held.since(killedAt)
    expect(again.length).toBeGreaterThan(0)
    expect(lastMs([...again, ...first], killedAt, stalls)).toBeLessThan(CLAIMED_MS_MAX)
    for (const group of groups)
      expect(texts().filter((text) => text.startsWith(`${group}-`))).toEqual(
        [0, 1, 2].map((turn) => `${group}-${turn}`),
      )
  }, 60_000)
})
