/**
 * The redrive service is killed at every step of a task. Its successor moves every message, each of them once. The API
 * and the worker are killed in the middle of a resend.
 */
import { waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { endJobLocks, REDRIVE_JOBS } from '../../harness/redis/job-locks.ts'
import { killAt } from '../../harness/redis/kill-at.ts'
import { runsScript } from '../../harness/redis/redis-requests.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const TEXTS = ['one', 'two', 'three']

const stack = useStack({ workers: 1, redrive: true, proxied: 'redrive' })
const receiver = useReceiver()

const STEPS = {
  open: runsScript('open-redrive-1'),
  chooseKept: runsScript('choose-resent-1'),
  choose: runsScript('choose-redriven-1'),
  park: runsScript('park-redriven-1'),
  append: runsScript('append-redriven-1'),
  finish: runsScript('finish-redriven-1'),
}
type Step = keyof typeof STEPS
type To = 'its subscription' | 'another queue' | 'its subscription, edited' | 'another queue, edited'

/** `after` a step is the same as `before` the next one. */
const CASES: [Step, To][] = [
  ['open', 'its subscription'],
  ['choose', 'its subscription'],
  ['park', 'its subscription'],
  ['append', 'another queue'],
  ['finish', 'its subscription'],
  ['choose', 'its subscription, edited'],
  ['park', 'its subscription, edited'],
  ['append', 'another queue, edited'],
  ['finish', 'its subscription, edited'],
]

interface Task {
  id: string
  status: string
  moved: number
  skipped: number
}

const row = beginFault('redrive-crash-points')
let [moved, resent, duplicates] = [0, 0, 0]

test.each(CASES)(
  'killed after: %s, on the way to %s',
  async (step, to) => {
    const { client, connection, redrive, proxy } = stack()
    if (!redrive) throw new Error('no redrive service')
    const name = `${step}-${to}`.replaceAll(/\W+/g, '-')
    const isEdited = to.endsWith('edited')
    const toQueue = to.startsWith('another queue')
    const texts = isEdited ? TEXTS.slice(0, 1) : TEXTS
    const { ledger, source } = await deadLetter(name, texts)
    const destination = `other-${name}`
    if (toQueue) await client.put(`/v1/queues/${destination}`)
    const killed = killAt({ proxy, service: redrive }, { matches: STEPS[step], at: 'after' })
    const target = toQueue ? { destination } : {}
    const { id } = isEdited
      ? await sendEdited(source, target)
      : await client.post<Task>('/v1/redrives', { source, ...target })
    await killed
    await endJobLocks(connection, REDRIVE_JOBS)
    await redrive.start()
    const task = await whenEnded(id)
    moved += task.moved
    expect(task).toMatchObject({ status: 'completed', moved: texts.length, skipped: 0 })
    expect(await visible(source)).toBe(0)
    if (toQueue) {
      expect(await visible(destination)).toBe(texts.length)
    } else {
      const account = await ledger.whenSettled()
      duplicates += account.duplicates
      expect(account).toMatchObject({ delivered: texts.length, duplicates: 0, deadLettered: 0, discarded: 0 })
    }
  },
  40_000,
)

const SINCE = '2026-01-01T00:00:00Z'
/** Longer than every lease. */
const LEASES_END_MS = 30_000
/** Attempts that a worker has under way for a subscription at most (`maxInFlight`). */
const IN_FLIGHT_MAX = 32
const RESEND_STEPS: Step[] = ['chooseKept', 'park', 'finish']

test.each(RESEND_STEPS)(
  'killed after: %s, while it resends kept messages',
  async (step) => {
    const { client, connection, redrive, proxy } = stack()
    if (!redrive) throw new Error('no redrive service')
    const { ledger, path } = await keepMessages(`resend-${step}`, TEXTS)
    const killed = killAt({ proxy, service: redrive }, { matches: STEPS[step], at: 'after' })
    const { id } = await client.post<Task>(path, { since: SINCE })
    await killed
    await endJobLocks(connection, REDRIVE_JOBS)
    await redrive.start()
    const task = await whenEnded(id)
    resent += task.moved
    expect(task).toMatchObject({ status: 'completed', moved: TEXTS.length, skipped: 0 })
    // Each message came once, and once more.
    await waitFor(async () => (await ledger.whenSettled()).duplicates === TEXTS.length)
    expect(await ledger.whenSettled()).toMatchObject({ delivered: TEXTS.length, lost: 0, discarded: 0 })
  },
  40_000,
)

const VICTIMS = ['API', 'worker'] as const
const KEPT = Array.from({ length: 30 }, (_, n) => String(n))
/** Slow enough that a process is killed in the middle of the task. */
const RESENT_PER_SECOND = 20
const KILLED_FROM = 5

test.each(VICTIMS)(
  'the %s is killed while kept messages are resent',
  async (victim) => {
    const { client, connection, api, worker } = stack()
    const { ledger, path } = await keepMessages(`resend-without-${victim}`, KEPT)
    const { id } = await client.post<Task>(path, { since: SINCE, maxMessagesPerSecond: RESENT_PER_SECOND })
    const isUnderWay = async () => (await client.get<Task>(`/v1/redrives/${id}`)).moved >= KILLED_FROM
    await waitFor(isUnderWay, { intervalMs: 20, what: 'the first resent messages' })
    await (victim === 'API' ? api : worker(0)).restart()
    const task = await whenEnded(id)
    resent += task.moved
    expect(task).toMatchObject({ status: 'completed', moved: KEPT.length, skipped: 0 })
    // Claims of a killed worker are claimed again when their leases have ended.
    await moveRedisTime(connection, LEASES_END_MS)
    await waitFor(async () => (await ledger.whenSettled()).duplicates >= KEPT.length)
    const account = await ledger.whenSettled()
    expect(account).toMatchObject({ delivered: KEPT.length, lost: 0, discarded: 0, waiting: 0 })
    // A killed worker repeats what it had under way. Nothing else repeats a message.
    const repeatsMax = victim === 'API' ? 0 : IN_FLIGHT_MAX
    expect(account.duplicates).toBeLessThanOrEqual(KEPT.length + repeatsMax)
  },
  60_000,
)

/** Publishes the texts to a new topic that keeps them, and waits until all are delivered and kept. */
async function keepMessages(name: string, texts: string[]): Promise<{ ledger: Ledger; path: string }> {
  const { client } = stack()
  const subscriptions = { [`/${name}`]: {} }
  const ledger = await Ledger.open({ stack: stack(), receiver: receiver(), topic: name, subscriptions })
  await client.patch(`/v1/topics/${name}`, { keepMessages: { seconds: 3_600, bytes: 1_048_576 } })
  for (const text of texts) await ledger.publish(`${name} ${text}`)
  await ledger.whenSettled()
  const path = `/v1/subscriptions/${ledger.subscriptions[0]?.id}/resend`
  await waitFor(async () => {
    const { matched } = await client.post<{ matched: number }>(path, { since: SINCE, dryRun: true })
    return matched === texts.length
  })
  return { ledger, path }
}

async function whenEnded(id: string): Promise<Task> {
  return waitFor(
    async () => {
      const now = await stack().client.get<Task>(`/v1/redrives/${id}`)
      return now.status === 'running' ? undefined : now
    },
    { timeoutMs: 20_000, intervalMs: 50, what: 'the task to end' },
  )
}

afterAll(() => {
  const edited = CASES.filter(([, to]) => to.endsWith('edited')).length
  const messages = (CASES.length - edited) * TEXTS.length + edited
  expect(resent).toBe(RESEND_STEPS.length * TEXTS.length + VICTIMS.length * KEPT.length)
  row.report({ messages, lost: messages - moved, duplicates, recoverySeconds: null })
})

/** A queue of messages that failed permanently. From then on the receiver accepts everything. */
async function deadLetter(name: string, texts: string[]): Promise<{ ledger: Ledger; source: string }> {
  let failing = true
  receiver().respond(`/${name}`, () => ({ status: failing ? 404 : 200 }))
  const source = `dead-${name}`
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: name,
    subscriptions: { [`/${name}`]: {} },
    deadLetterQueue: source,
  })
  for (const text of texts) await ledger.publish(`${name} ${text}`)
  await waitFor(async () => (await visible(source)) === texts.length)
  failing = false
  return { ledger, source }
}

/** Sends the only letter again with another attribute. Its text stays the same, so the ledger recognises it. */
async function sendEdited(source: string, target: object): Promise<{ id: string }> {
  const { client } = stack()
  const { messages } = await client.get<{ messages: { messageId: string }[] }>(
    `/v1/queues/${source}/messages`,
  )
  const path = `/v1/queues/${source}/messages/${messages[0]?.messageId}/redrive`
  return client.post<{ id: string }>(path, { ...target, attributes: { mended: 'yes' } })
}

async function visible(queue: string): Promise<number> {
  const { counts } = await stack().client.get<{ counts: { visible: number } }>(`/v1/queues/${queue}`)
  return counts.visible
}
