/**
 * Corrupt data in Redis: jobs, messages, a topic, subscriptions and parts of their lanes. It is quarantined, logged and
 * counted. Other data in the same queue, job, topic and shard is delivered, and nothing loops.
 */
import { laneKey, Quarantine, shardBase, shardOf, sliceKey, subscriptionsKey, topicKey } from '@fantail/store'
import { stateKey, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { watchEffort } from '../../harness/services/quiet-trouble.ts'
import { useStack } from '../../harness/services/stack.ts'

const JOBS = 'ft:{dispatch-0}:dispatch-0'
const ARN = (topic: string) => `arn:aws:sns:us-east-1:000000000000:${topic}`
const RETRY_S = 3
const WATCHED_MS = 5_000
/** More would make so many commands, with their retries in the corrupt lanes, that they look like a loop. */
const LATER = 8
/** An endless loop would make thousands of commands a second, with a log line each. */
const COMMANDS_PER_SECOND_MAX = 600
const LINES_MAX = 30
const GARBAGE = '\u0001garbage'

const stack = useStack({ workers: 1, redis: { appendfsync: 'always' } })
const receiver = useReceiver()
const told = (msg: string) =>
  stack()
    .worker(0)
    .logLines()
    .filter((line) => line.msg === msg)

const open = (topic: string, subscriptions: Record<string, Record<string, unknown>>) =>
  Ledger.open({ stack: stack(), receiver: receiver(), topic, subscriptions })

async function whenArrived(path: string, texts: string[]): Promise<void> {
  const arrived = () =>
    new Set(
      receiver()
        .requestsTo(path)
        .map(({ text }) => text),
    )
  await waitFor(() => texts.every((text) => arrived().has(text)), { what: `all to arrive at ${path}` })
}

test('a corrupt job, message or topic is quarantined, and its neighbours are delivered', async () => {
  const row = beginFault('corrupt-jobs')
  const { connection } = stack()
  const ledger = await open('jobs', { '/jobs': {} })
  const broken = await open('broken', { '/broken': {} })
  await stack().worker(0).kill()
  const texts = ['first', 'torn', 'strange', 'last']
  for (const text of texts) expect(await ledger.publish(text)).toBe('accepted')
  expect(await broken.publish('to a broken topic')).toBe('accepted')
  for (const id of await connection.lrange(`${JOBS}:wait`, 0, -1)) {
    const data = (await connection.hget(`${JOBS}:${id}`, 'data')) ?? ''
    if (data.includes('"torn"')) await connection.hset(`${JOBS}:${id}`, 'data', data.slice(0, -9))
    const job = data.includes('"strange"') && JSON.parse(data)
    if (job) {
      const [whole] = job.m
      job.m.unshift(42, { messageId: GARBAGE }, { ...whole, message: null }, { ...whole, message: 'changed' })
      await connection.hset(`${JOBS}:${id}`, 'data', JSON.stringify(job))
    }
  }
  await connection.hset(topicKey(ARN('broken')), 'record', '{')
  const effort = await watchEffort(stack())
  await stack().worker(0).start()
  const startedAt = performance.now()
  await whenArrived('/jobs', ['first', 'strange', 'last'])
  const recoverySeconds = await ledger.recovered(startedAt)
  const reasons = async () => {
    const { items } = await new Quarantine(connection).list({ limit: 100 })
    return items.map(({ reason }) => reason).sort()
  }
  await waitFor(async () => (await reasons()).length === 6, {
    timeoutMs: 20_000,
    what: 'the torn job, four messages and the message of the broken topic to be quarantined',
  })
  await waitFor(async () => (await connection.exists(`${JOBS}:active`, `${JOBS}:wait`)) === 0)
  const account = await ledger.account()
  row.report({ ...account, messages: account.accepted, recoverySeconds })
  expect(account).toMatchObject({ lost: 0, quarantined: 1, duplicates: 0 })
  const unreadable = Array.from({ length: 4 }, () => 'messageUnreadable')
  expect(await reasons()).toEqual(['jobUnreadable', ...unreadable, 'topicUnreadable'])
  expect(told('quarantine.added')).toHaveLength(6)
  expect((await effort()).linesMax).toBeLessThan(LINES_MAX)
}, 90_000)

test('corrupt subscriptions and lanes are quarantined or wait, and those in the same shard are delivered', async () => {
  const row = beginFault('corrupt-lanes')
  const { connection, client } = stack()
  const bad = ['/settings', '/state', '/record', '/waiting', '/type']
  for (const path of bad) receiver().respond(path, ({ attempt }) => ({ status: attempt === 1 ? 503 : 200 }))
  // After the lane's key gets another type, nothing more is parked in the lane.
  receiver().respond('/type', ({ text, attempt }) => ({
    status: attempt === 1 && text === 'before' ? 503 : 200,
  }))
  const deliveryPolicy = retries(5, { minDelayTarget: RETRY_S, maxDelayTarget: RETRY_S })
  const ledger = await open('lanes', {
    '/good': {},
    '/throttled': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 50 } } },
    ...Object.fromEntries(bad.map((path) => [path, { deliveryPolicy }])),
  })
  expect(await ledger.publish('before')).toBe('accepted')
  for (const path of bad) await receiver().waitForRequests(1, path)
  const base = shardBase(shardOf(ARN('lanes')))
  const idOf = (path: string) => ledger.subscriptions.find((given) => given.path === path)?.id ?? ''
  const waiting = async (path: string) => (await connection.hlen(stateKey(base, idOf(path)))) > 0
  for (const path of bad) await waitFor(() => waiting(path), { what: `${path} to wait for its retry` })
  await corrupt()
  const since = performance.now()
  const later = Array.from({ length: LATER }, (_, i) => `later-${i}`)
  for (const text of later) expect(await ledger.publish(text)).toBe('accepted')
  await whenArrived('/good', later)
  await whenArrived('/throttled', later)
  const recoverySeconds = (performance.now() - since) / 1_000
  const effort = await watchEffort(stack())
  await untilPassed(WATCHED_MS)
  const spent = await effort()
  console.info(`effort afterwards: ${JSON.stringify(spent)}`)
  const healthy = ['/good', '/throttled'].map((path) => receiver().requestsTo(path).length)
  row.report({
    messages: later.length + 1,
    lost: 2 * (LATER + 1) - healthy.reduce((a, b) => a + b),
    duplicates: 0,
    recoverySeconds,
  })
  expect(healthy).toEqual([LATER + 1, LATER + 1])
  expect(told('lane.unreadable').map(({ lane }) => lane)).toContain(idOf('/type'))
  expect(spent.commandsPerSecond).toBeLessThan(COMMANDS_PER_SECOND_MAX)
  expect(spent.linesMax).toBeLessThan(LINES_MAX)
  // The API still answers for the healthy subscriptions.
  expect((await client.call('GET', `/v1/subscriptions/${idOf('/good')}`)).status).toBe(200)

  async function corrupt(): Promise<void> {
    const [uid] = Object.values(await connection.hmget(topicKey(ARN('lanes')), 'uid'))
    const slice = `${uid}.0`
    expect(await connection.exists(sliceKey(base, slice))).toBe(1)
    await connection.hset(laneKey(base, idOf('/settings')), {
      r: 'x',
      c: 'y',
      k: 'z',
      x: GARBAGE,
      s: GARBAGE,
    })
    for (const delivery of await connection.hkeysBuffer(stateKey(base, idOf('/state'))))
      await connection.hset(stateKey(base, idOf('/state')), delivery, GARBAGE)
    const ids = await connection.hkeysBuffer(subscriptionsKey(base, slice))
    const record = Buffer.from(idOf('/record').replaceAll('-', ''), 'hex')
    expect(ids.some((id) => id.equals(record) || id.toString() === idOf('/record'))).toBe(true)
    for (const id of ids)
      if (id.equals(record) || id.toString() === idOf('/record'))
        await connection.hset(subscriptionsKey(base, slice), id, GARBAGE)
    await connection.zadd(`${base}retry:${idOf('/waiting')}`, 0, GARBAGE)
    await connection.del(stateKey(base, idOf('/type')))
    await connection.set(stateKey(base, idOf('/type')), GARBAGE)
    await connection.zadd(`${base}due`, 0, 'no such lane')
  }
}, 90_000)
