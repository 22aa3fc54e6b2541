/** A Redis that answers with errors: full to the watermark, completely full, or unable to save. */
import { mkdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { beforeEach, expect, test } from 'vitest'
import { beginFault, type FaultName, LONG } from '../../harness/ledgers/fault-rows.ts'
import { type Account, Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { untilPassed } from '../../harness/services/passing-time.ts'
import { redisFigure } from '../../harness/services/process-figures.ts'
import { watchEffort } from '../../harness/services/quiet-trouble.ts'
import { useStack } from '../../harness/services/stack.ts'

const MEMORY_BYTES = 32 * 1_048_576
const PER_SECOND = LONG ? 50 : 15
const TROUBLE_MS = LONG ? 60_000 : 4_000
/** The most that a service may use while it cannot work, including polls and this test's own publishes. */
const EFFORT_MAX = { cpuShare: 0.6, commandsPerSecond: 4_000, linesMax: 30 }
const REFUSED_WITHIN_MS = 2_000

const stack = useStack({
  workers: 2,
  redrive: true,
  redis: { appendfsync: 'always', args: ['--maxmemory', String(MEMORY_BYTES)] },
  env: { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000' },
})
const receiver = useReceiver()

beforeEach(async () => {
  await stack().connection.config('SET', 'maxmemory', String(MEMORY_BYTES))
})

test('past the watermark a greedy topic is refused alone, then all are, and what was accepted arrives', async () => {
  const row = beginFault('watermark')
  const open = (topic: string) =>
    Ledger.open({ stack: stack(), receiver: receiver(), topic, subscriptions: { [`/${topic}`]: {} } })
  const [greedy, modest] = [await open('greedy'), await open('modest')]
  // Several topics, each with less than the largest share of memory that one topic may use.
  const filling = await Promise.all(Array.from({ length: 6 }, (_, i) => open(`filling-${i}`)))
  for (const ledger of [greedy, ...filling]) await pause(ledger, true)
  await fillUntil([greedy], 429)
  expect(await modest.publish('beside the greedy one')).toBe('accepted')
  await fillUntil(filling, 503)
  expect(await modest.publish('when all is full')).toBe('refused')
  for (const { retryAfter } of [greedy, ...filling, modest].flatMap(({ failures }) => failures))
    expect(Number(retryAfter)).toBeGreaterThan(0)
  const healedAt = performance.now()
  for (const ledger of [greedy, ...filling]) await pause(ledger, false)
  const recoverySeconds = await modest.recovered(healedAt)
  const accounts: Account[] = []
  for (const ledger of [greedy, modest, ...filling])
    accounts.push(await ledger.whenSettled({ timeoutMs: 60_000 }))
  const sum = (name: 'accepted' | 'lost' | 'duplicates') =>
    accounts.reduce((n, account) => n + account[name], 0)
  row.report({ messages: sum('accepted'), lost: sum('lost'), duplicates: sum('duplicates'), recoverySeconds })
  for (const account of accounts) {
    expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, expired: 0, discarded: 0 })
    expect(account.delivered).toBe(account.owed)
  }
}, 180_000)

let filled = 0

/** Publishes messages of 40 kB to each topic in turn, until one is refused with this status. */
async function fillUntil(ledgers: Ledger[], status: number): Promise<void> {
  let published = 0
  const isFull = async () => {
    const ledger = ledgers[published++ % ledgers.length]
    const texts = Array.from({ length: 10 }, () => `${filled++} `.padEnd(40_000, 'x'))
    await Promise.all(texts.map((text) => ledger?.publish(text)))
    return ledger?.failures.at(-1)?.status === status
  }
  await waitFor(isFull, { what: `a publish to be answered ${status}`, timeoutMs: 60_000 })
}

async function pause(ledger: Ledger, paused: boolean): Promise<void> {
  for (const { id } of ledger.subscriptions)
    await stack().client.post(`/v1/subscriptions/${id}/${paused ? 'pause' : 'resume'}`)
}

test(
  'a Redis without memory refuses publishes, nobody spins, and all goes on when there is some',
  () =>
    refusing('out-of-memory', {
      begin: async () => {
        const used = await redisFigure(stack().connection, 'memory', 'used_memory')
        await stack().connection.config('SET', 'maxmemory', String(Math.floor(used / 2)))
      },
      end: () => stack().connection.config('SET', 'maxmemory', String(MEMORY_BYTES)),
    }),
  TROUBLE_MS + 90_000,
)

test(
  'a Redis that cannot save refuses publishes, nobody spins, and all goes on when it can',
  async () => {
    const { connection } = stack()
    const [, dir = ''] = (await connection.config('GET', 'dir')) as string[]
    // Redis writes a snapshot and renames it to this path. A folder of this name makes the rename fail.
    const dump = join(dir, 'dump.rdb')
    const save = (status: string) => async () => {
      await connection.bgsave().catch(() => undefined)
      return (await connection.info('persistence')).includes(`rdb_last_bgsave_status:${status}`)
    }
    await refusing('misconf', {
      begin: async () => {
        await mkdir(dump)
        await connection.config('SET', 'save', '3600 1')
        await waitFor(save('err'), { what: 'saving to fail', intervalMs: 100 })
      },
      end: async () => {
        await rmdir(dump)
        await waitFor(save('ok'), { what: 'saving to succeed', intervalMs: 100 })
        await connection.config('SET', 'save', '')
      },
    })
  },
  TROUBLE_MS + 90_000,
)

interface Trouble {
  begin(): Promise<unknown>
  end(): Promise<unknown>
}

/** Publishes before, during and after the trouble. During the trouble, lanes have deliveries that wait for a retry. */
async function refusing(name: FaultName, { begin, end }: Trouble): Promise<void> {
  const row = beginFault(name)
  receiver().respond(`/${name}/flaky`, ({ attempt }) => ({ status: attempt < 3 ? 503 : 200 }))
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: name,
    subscriptions: {
      [`/${name}/quick`]: {},
      [`/${name}/flaky`]: { deliveryPolicy: retries(20) },
      [`/${name}/throttled`]: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 100 } } },
    },
  })
  await ledger.publishAtRate({ count: 2 * PER_SECOND, perSecond: 2 * PER_SECOND, prefix: 'before' })
  await begin()
  const effort = await watchEffort(stack())
  const accepted = ledger.count('accepted')
  const count = (TROUBLE_MS / 1_000) * PER_SECOND
  const publishing = ledger.publishAtRate({ count, perSecond: PER_SECOND, prefix: 'in' })
  await untilPassed(TROUBLE_MS)
  await publishing
  const spent = await effort()
  expect(ledger.count('accepted')).toBe(accepted)
  for (const failure of ledger.failures) {
    expect(failure).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) })
    expect(failure.tookMs).toBeLessThan(REFUSED_WITHIN_MS)
  }
  const endedAt = performance.now()
  await end()
  const recoverySeconds = await ledger.recovered(endedAt)
  const account = await ledger.whenSettled()
  row.report({ ...account, messages: account.accepted, recoverySeconds })
  console.info(`effort in trouble: ${JSON.stringify(spent)}`)
  expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, unknown: 0, expired: 0, discarded: 0 })
  for (const [figure, max] of Object.entries(EFFORT_MAX))
    expect([figure, spent[figure as keyof typeof spent] <= max, spent]).toEqual([figure, true, spent])
}
