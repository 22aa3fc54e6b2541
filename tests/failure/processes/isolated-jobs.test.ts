/**
 * Jobs that are started many times: workers die at a message, workers freeze for longer than a job's lock lasts, or
 * Redis is down. A readable message is still delivered. Only data that cannot be decoded goes to the quarantine.
 */
import { Quarantine, topicKey } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { DISPATCH_JOBS, endJobLocks } from '../../harness/redis/job-locks.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import type { ServiceProcess } from '../../harness/services/service-process.ts'
import { useStack } from '../../harness/services/stack.ts'

/** The first two are first attempts of the job, the others are attempts of the lane. */
const KILLS = LONG ? 10 : 3
const FREEZES = LONG ? 10 : 2
/** Longer than a lease. */
const LEASES_END_MS = 5_000
const JOBS_IN_OUTAGES = LONG ? 100 : 20
const STARTS = 6
const NEIGHBOURS = 10

/** A lease ends 3.5 s after the deadline of its attempt. */
const stack = useStack({
  workers: 2,
  redis: { appendfsync: 'always' },
  env: { FANTAIL_ATTEMPT_TIMEOUT_MS: '1000' },
})
const receiver = useReceiver()
/** Attempts without an answer are repeated every second, and the test does not reach the last retry. */
const deliveryPolicy = retries(100, { minDelayTarget: 1, maxDelayTarget: 1 })

beforeEach(async () => {
  for (const worker of stack().workers) if (!worker.running) await worker.start()
  receiver().clear()
})

const quarantined = async () => {
  const { items } = await new Quarantine(stack().connection).list({ limit: 100 })
  return items.map(({ reason }) => reason)
}

test(
  `a message at whose request the worker is killed ${KILLS} times is delivered, and its neighbours before`,
  async () => {
    const row = beginFault('isolated-kills')
    const [worker, idle] = [stack().worker(0), stack().worker(1)]
    await idle.kill()
    await worker.kill()
    const restarts: Promise<void>[] = []
    receiver().respond(
      ({ text }) => text === 'killer',
      (_, n) => {
        if (n > KILLS) return {}
        restarts.push(killAndStart(worker))
        return { hang: 'beforeHeaders' }
      },
    )
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'kills',
      subscriptions: { '/kills': { deliveryPolicy } },
    })
    const texts = [...Array.from({ length: NEIGHBOURS }, (_, i) => `neighbour ${i}`), 'killer']
    const messages = texts.map((message) => ({ message }))
    await stack().client.post('/v1/topics/kills/messages', { messages })
    for (const text of texts) ledger.fates.set(text, 'accepted')
    await spoilOneMessage()
    await worker.start()
    const startedAt = performance.now()
    await receiver().waitForRequests(KILLS + 1, ({ text }) => text === 'killer', KILLS * 20_000)
    await Promise.all(restarts)
    const account = await ledger.whenSettled()
    row.report({ ...account, messages: account.accepted, recoverySeconds: null })
    console.info(`${KILLS} kills in ${Math.round(performance.now() - startedAt)} ms`)
    expect(account).toMatchObject({ delivered: NEIGHBOURS + 1, lost: 0, quarantined: 0 })
    expect(await quarantined()).toEqual(['messageUnreadable'])
  },
  KILLS * 20_000 + 60_000,
)

async function killAndStart(worker: ServiceProcess): Promise<void> {
  await worker.kill()
  await endLocksAndLeases()
  await worker.start()
}

/** In the short form, locks and leases of a dead or frozen worker end at once, instead of after 3 and 4.5 s. */
async function endLocksAndLeases(): Promise<void> {
  if (LONG) return
  const { connection } = stack()
  await endJobLocks(connection, DISPATCH_JOBS)
  await moveRedisTime(connection, LEASES_END_MS)
}

/** Adds a message that cannot be decoded to the one waiting job. */
async function spoilOneMessage(): Promise<void> {
  const { connection } = stack()
  const [id] = await connection.lrange(`${DISPATCH_JOBS}:wait`, 0, -1)
  const job = JSON.parse((await connection.hget(`${DISPATCH_JOBS}:${id}`, 'data')) ?? '')
  job.m.unshift({ ...job.m[0], message: null })
  await connection.hset(`${DISPATCH_JOBS}:${id}`, 'data', JSON.stringify(job))
}

test(
  `a message at whose request a worker freezes ${FREEZES} times is delivered`,
  async () => {
    const row = beginFault('isolated-freezes')
    const [first, second] = [stack().worker(0), stack().worker(1)]
    let [running, frozen] = [first, second]
    const before = await quarantined()
    frozen.signal('SIGSTOP')
    const thaw = Promise.withResolvers<void>()
    const ends: Promise<void>[] = []
    receiver().respond('/freezes', (_, n) => {
      if (n > FREEZES) return {}
      // The worker that has sent this request is frozen, and the other one continues.
      running.signal('SIGSTOP')
      frozen.signal('SIGCONT')
      ;[running, frozen] = [frozen, running]
      ends.push(endLocksAndLeases())
      return { until: thaw.promise }
    })
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'freezes',
      subscriptions: { '/freezes': { deliveryPolicy } },
    })
    await ledger.publish('freezer')
    await receiver().waitForRequests(FREEZES + 1, '/freezes', FREEZES * 25_000)
    thaw.resolve()
    for (const worker of [first, second]) worker.signal('SIGCONT')
    await Promise.all(ends)
    const account = await ledger.whenSettled()
    row.report({ ...account, messages: account.accepted, recoverySeconds: null })
    expect(account).toMatchObject({ delivered: 1, lost: 0, quarantined: 0 })
    expect(await quarantined()).toEqual(before)
  },
  FREEZES * 25_000 + 60_000,
)

test(`${JOBS_IN_OUTAGES} jobs that outages start ${STARTS} times are delivered`, async () => {
  const row = beginFault('isolated-outages')
  const { connection, redis } = stack()
  const before = await quarantined()
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'outages',
    subscriptions: { '/outages': {} },
  })
  for (const worker of stack().workers) await worker.kill()
  for (let n = 0; n < JOBS_IN_OUTAGES; n++) await ledger.publish(`m${n}`)
  const ids = await connection.lrange(`${DISPATCH_JOBS}:wait`, 0, -1)
  expect(ids).toHaveLength(JOBS_IN_OUTAGES)
  // While the topic's key has another type, the job cannot end. Its worker tries again, as in an outage.
  const key = topicKey('arn:aws:sns:us-east-1:000000000000:outages')
  await connection.multi().rename(key, `${key}:kept`).set(key, 'of another type').exec()
  await Promise.all(stack().workers.map((worker) => worker.start()))
  for (let starts = 1; starts <= STARTS; starts++) {
    await waitFor(() => allStarted(ids, starts), { timeoutMs: 60_000, what: `${starts} starts of every job` })
    if (starts === STARTS) break
    await redis.kill()
    await redis.restart()
    await waitFor(() => connection.status === 'ready')
    for (const id of await connection.lrange(`${DISPATCH_JOBS}:active`, 0, -1)) await handOutAgain(id)
  }
  await connection.rename(`${key}:kept`, key)
  const account = await ledger.whenSettled({ timeoutMs: 60_000 })
  row.report({ ...account, messages: account.accepted, recoverySeconds: null })
  expect(account).toMatchObject({ delivered: JOBS_IN_OUTAGES, lost: 0, quarantined: 0 })
  expect(await quarantined()).toEqual(before)
}, 240_000)

async function allStarted(ids: string[], starts: number): Promise<boolean> {
  const { connection } = stack()
  const counts = await Promise.all(ids.map((id) => connection.hget(`${DISPATCH_JOBS}:${id}`, 'ats')))
  return counts.every((count) => Number(count) >= starts)
}

/** Does what the stalled check does with a job whose lock expired in the outage. */
async function handOutAgain(id: string): Promise<void> {
  await stack()
    .connection.multi()
    .del(`${DISPATCH_JOBS}:${id}:lock`)
    .lrem(`${DISPATCH_JOBS}:active`, 1, id)
    .rpush(`${DISPATCH_JOBS}:wait`, id)
    .zadd(`${DISPATCH_JOBS}:marker`, 0, '0')
    .exec()
}
