/**
 * The worker is killed again and again while it matches a FIFO message. The message delays only its own group, and is
 * delivered in order once it kills no more.
 */
import { dueKey, messageKey, shardBase, shardOf, topicKey } from '@fantail/store'
import { isolatedGroupsKey, logKey, skewKey, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { FifoLedger } from '../../harness/ledgers/fifo-ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { all, hasArgument, runsScript } from '../../harness/redis/redis-requests.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { useStack } from '../../harness/services/stack.ts'

/** Three kills isolate the message. The others are tries of its group alone. */
const KILLS = LONG ? 10 : 5
/** Longer than the longest delay and any lease. */
const DUE_MS = 330_000
/** Shorter than the longest delay, because a later due time would be corrected. */
const DELAY_MS = 250_000
/** A reader's lease, and one second more, because the clock is read in seconds. */
const LEASE_MS = 4_000
const START_MS = 60_000
const FOR_START = { timeoutMs: START_MS }
const KILLER = 'g0-3'
const [GROUPS, MESSAGES] = [3, 10]
const ARN = 'arn:aws:sns:us-east-1:000000000000:isolated.fifo'
const BASE = shardBase(shardOf(ARN))

const stack = useStack({ workers: 1, redis: { appendfsync: 'always' }, proxied: 'delivery-worker' })
const receiver = useReceiver()

async function idOf(uid: string, text: string): Promise<Buffer> {
  for (const entry of await stack().connection.lrangeBuffer(logKey(BASE, uid), 0, -1)) {
    const id = entry.subarray(0, 16)
    const body = await stack().connection.hget(messageKey(BASE, id), 'b')
    if (JSON.parse(body ?? '').message === text) return id
  }
  throw new Error(`${text} is not in the log`)
}

test(
  `a FIFO message at which the worker is killed ${KILLS} times is delivered in order, and other groups before`,
  async () => {
    const row = beginFault('isolated-fifo')
    const { connection } = stack()
    const worker = stack().worker(0)
    const ledger = await FifoLedger.open({
      stack: stack(),
      receiver: receiver(),
      name: 'isolated',
      groups: GROUPS,
      messages: MESSAGES,
    })
    await worker.kill()
    await ledger.publish()
    const uid = (await connection.hget(topicKey(ARN), 'uid')) ?? ''
    // Nothing is written between matching and moving. For Redis, the worker has therefore died while it matched.
    const matches = all(runsScript('move-log-1'), hasArgument(await idOf(uid, KILLER)))
    const member = `isolated:${uid}:g0`
    for (let kills = 0; kills < KILLS; kills++) await killAt(matches, member)
    await holdGroup(member)
    await worker.start()
    const others = (GROUPS - 1) * MESSAGES
    const isOther = ({ text }: { text: string }) => !text.startsWith('g0')
    await receiver().waitForRequests(others, isOther, START_MS)
    await waitFor(async () => (await ledger.account()).queue >= others, FOR_START)
    expect(
      receiver()
        .requestsTo('/isolated')
        .map(({ text }) => text),
    ).not.toContain(KILLER)
    await worker.kill()
    await moveRedisTime(connection, DUE_MS)
    await startTrying(member, async () => (await connection.exists(isolatedGroupsKey(BASE, uid))) === 0)
    const { disorder, queue, webhook } = await ledger.whenComplete(START_MS)
    const messages = GROUPS * MESSAGES
    const lost = 2 * messages - queue - webhook.firsts
    row.report({ messages, lost, duplicates: webhook.arrivals - webhook.firsts, recoverySeconds: null })
    expect([disorder, queue, webhook.firsts]).toEqual([[], messages, messages])
    await waitFor(async () => {
      const keys = await connection.keys('ft:*')
      return !keys.some((key) => /:(msg|fresh|retry|lease|state|groups|behind|log|isolated):|:due$/.test(key))
    })
  },
  KILLS * START_MS + 240_000,
)

async function killAt(matches: (request: Buffer) => boolean, member: string): Promise<void> {
  const { connection, proxy } = stack()
  let isReached = false
  const reached = proxy.trap({ matches, at: 'before', silent: true, timeoutMs: START_MS }).then(() => {
    isReached = true
  })
  await Promise.all([reached, startTrying(member, async () => isReached)])
  await stack().worker(0).kill()
  await moveRedisTime(connection, DUE_MS)
}

/** A worker that finds its predecessor dead only makes the group wait. The next one tries it. */
async function startTrying(member: string, isTried: () => Promise<boolean>): Promise<void> {
  const worker = stack().worker(0)
  await worker.start()
  await waitFor(async () => (await isTried()) || (await dueInMs(member)) > LEASE_MS, FOR_START)
  if (await isTried()) return
  await worker.kill()
  await moveRedisTime(stack().connection, DUE_MS)
  await worker.start()
}

/** NaN: it is not in `due`. */
async function dueInMs(member: string): Promise<number> {
  const due = await stack().connection.zscore(dueKey(BASE), member)
  return due === null ? Number.NaN : Number(due) - (await redisNow())
}

async function redisNow(): Promise<number> {
  const { connection } = stack()
  return Number((await connection.time())[0]) * 1_000 + Number(await connection.get(skewKey(BASE)))
}

/** Makes the group wait as long as after many kills, so that all others can arrive before its next try. */
async function holdGroup(member: string): Promise<void> {
  expect(await dueInMs(member)).not.toBeNaN()
  await stack().connection.zadd(dueKey(BASE), (await redisNow()) + DELAY_MS, member)
}
