/**
 * FIFO topics while workers, the API and Redis die. Nothing is lost, and each group arrives in its order. At a webhook
 * the first arrivals count. Duplicates come from attempts whose result could not be stored.
 */
import { startFairTimer, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { FifoLedger } from '../../harness/ledgers/fifo-ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { useStack } from '../../harness/services/stack.ts'

const KILL_EVERY_MS = 2_000
const KILLS_MIN = 2
/** Messages of each group while workers are killed. The short form has time for the least number of kills. */
const MESSAGES = LONG ? 500 : 60
/** The number for all groups. In both forms, the publishing outlasts the least number of kills. */
const PER_SECOND = LONG ? 250 : 50
/** Numbers of accepted messages, of 300. */
const API_KILLED_AT = [60, 180]
const TAKEN_OVER_WITHIN_MS = 5_000
/** Longer than the lease of an attempt. */
const FROZEN_MS = 8_000

/**
 * The head of a group may be in flight when its worker is killed. Its group then continues when the attempt's lease
 * ends: after 7 s with this setting, instead of 20.
 */
const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000' }
const stack = useStack({ workers: 2, redis: { appendfsync: 'always' }, env })
const receiver = useReceiver()

const open = (name: string, messages: number, groups = 5) =>
  FifoLedger.open({ stack: stack(), receiver: receiver(), name, groups, messages })

/** Repeats `act` every `everyMs` until the publishing has ended. */
async function during(publishing: Promise<void>, everyMs: number, act: (round: number) => Promise<void>) {
  let ended = false
  void publishing.finally(() => {
    ended = true
  })
  const startedAt = performance.now()
  for (let round = 0; ; round++) {
    const dueAt = startedAt + (round + 1) * everyMs
    await waitFor(() => ended || performance.now() >= dueAt, { timeoutMs: 60_000 })
    if (ended) return
    await act(round)
  }
}

test('[134] workers killed every 2 s lose nothing of five groups and keep each in its order', async () => {
  const row = beginFault('fifo')
  const ledger = await open('killed-workers', MESSAGES)
  let kills = 0
  // A busy machine takes seconds to start a worker again. Publishing continues until enough workers have been killed.
  const publishing = ledger.publish({ perSecond: PER_SECOND, until: () => kills >= KILLS_MIN })
  await during(publishing, KILL_EVERY_MS, async (round) => {
    const worker = stack().worker(round % 2)
    await worker.kill()
    kills++
    await worker.start()
  })
  await publishing
  const messages = ledger.accepted
  const { webhook, queue, disorder } = await ledger.whenComplete(60_000)
  const duplicates = webhook.arrivals - webhook.firsts
  row.report({ messages, lost: 2 * messages - webhook.firsts - queue, duplicates, recoverySeconds: null })
  expect(disorder).toEqual([])
  expect(messages).toBeGreaterThanOrEqual(5 * MESSAGES)
  expect([webhook.firsts, queue]).toEqual([messages, messages])
  expect(kills).toBeGreaterThanOrEqual(KILLS_MIN)
  expect(duplicates).toBeLessThan(50)
}, 120_000)

test('a head that is answered 503 three times holds its own group only', async () => {
  const ledger = await open('failing-head', 20, 3)
  const failing = (text: string) => text === 'g0-0' || text === 'g0-7'
  const tries = new Map<string, number>()
  const othersDone = Promise.withResolvers<void>()
  receiver().respond('/failing-head', async ({ text }) => {
    const attempt = (tries.get(text) ?? 0) + 1
    tries.set(text, attempt)
    if (!failing(text) || attempt > 3) return { status: 200 }
    // The last failure is answered after all messages of the other groups have been delivered.
    if (text === 'g0-0' && attempt === 3) await othersDone.promise
    return { status: 503 }
  })
  await ledger.publish()
  await waitFor(() => ['g1', 'g2'].every((group) => tries.has(`${group}-19`)))
  expect([...tries.keys()].filter((text) => text.startsWith('g0'))).toEqual(['g0-0'])
  othersDone.resolve()
  const { webhook, disorder } = await ledger.whenComplete()
  expect([disorder, webhook.arrivals, tries.get('g0-0'), tries.get('g0-7')]).toEqual([[], 60, 4, 4])
}, 60_000)

test('the topic of a killed worker is taken over within 5 s', async () => {
  const { client } = stack()
  await stack().worker(1).kill()
  const ledger = await open('taken-over', 150, 1)
  const publishing = ledger.publish()
  await waitFor(() => receiver().requestsTo('/taken-over').length > 0)
  await Promise.all([stack().worker(0).kill(), stack().worker(1).start()])
  const took = startFairTimer(stack().api.pid, stack().worker(1).pid, stack().redis.pid())
  // A new group, because the group of an interrupted attempt waits until that attempt could have ended.
  const message = { message: 'other', groupId: 'other', deduplicationId: 'other' }
  await client.post('/v1/topics/taken-over.fifo/messages', message)
  await receiver().waitForRequests(1, ({ text }) => text === 'other', 20_000)
  const tookMs = took()
  console.info(`taken over after ${tookMs.toFixed(0)} ms`)
  expect(tookMs).toBeLessThan(TAKEN_OVER_WITHIN_MS)
  await publishing
  await stack().worker(0).start()
}, 60_000)

test('a worker that was frozen past its leases changes nothing when it wakes', async () => {
  const ledger = await open('frozen-worker', 50)
  const publishing = ledger.publish({ perSecond: 25 })
  await waitFor(() => receiver().requestsTo('/frozen-worker').length > 30)
  const zombie = stack().worker(0)
  zombie.signal('SIGSTOP')
  const frozenAt = performance.now()
  await waitFor(() => performance.now() - frozenAt > FROZEN_MS, { timeoutMs: 20_000 })
  zombie.signal('SIGCONT')
  await publishing
  const { webhook, queue, disorder } = await ledger.whenComplete(60_000)
  expect(disorder).toEqual([])
  expect([webhook.firsts, queue]).toEqual([250, 250])
}, 90_000)

test('[132] an API killed in mid-publish: the requests made again store nothing twice', async () => {
  const ledger = await open('killed-api', 60)
  const publishing = ledger.publish({ perSecond: 150 })
  for (const accepted of API_KILLED_AT) {
    await waitFor(() => ledger.accepted >= accepted, { intervalMs: 1 })
    await stack().api.restart()
  }
  await publishing
  const { webhook, queue, disorder } = await ledger.whenComplete(60_000)
  expect(disorder).toEqual([])
  expect([webhook.arrivals, queue]).toEqual([300, 300])
  expect(ledger.repeats).toBeGreaterThan(0)
}, 90_000)

test('Redis killed and restarted in mid-stream: everything resumes, in order', async () => {
  const ledger = await open('restarted-redis', 60)
  const publishing = ledger.publish({ perSecond: 180 })
  await waitFor(() => receiver().requestsTo('/restarted-redis').length > 60)
  await stack().redis.kill()
  const killedAt = performance.now()
  await waitFor(() => performance.now() - killedAt >= 1_000)
  await stack().redis.restart()
  await publishing
  const { webhook, queue, disorder } = await ledger.whenComplete(60_000)
  expect(disorder).toEqual([])
  expect([webhook.firsts, queue]).toEqual([300, 300])
}, 90_000)
