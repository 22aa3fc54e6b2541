/** SIGKILL of everything at once, and of random processes at random times while dead letters are redriven. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { DirectLedger } from '../../harness/ledgers/direct-ledger.ts'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { KilledWork } from '../../harness/ledgers/killed-work.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { anyBetween, untilPassed } from '../../harness/services/passing-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const RUN_SECONDS = LONG ? 600 : 25
const PER_SECOND = 50
const KILLS_MIN = RUN_SECONDS / 10
const PAUSE_MS = { from: 100, to: 2_000 }
const REDRIVE_EVERY_MS = 3_000
const DIRECT_EVERY_MS = 50
/** Published before everything is killed at once. */
const [MESSAGES, TEXTS] = [800, 100]
const QUICKLY_PER_SECOND = 1_000

/** A short time-out, so that the leases of a killed worker are short too. */
const direct = await DirectLedger.open()
const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: '2000', ...direct.env }
const stack = useStack({ workers: 2, redrive: true, redis: { appendfsync: 'always' }, env })
const receiver = useReceiver()

test('everything is killed right after the last 202, Redis too: nothing is lost', async () => {
  const row = beginFault('kills-at-once')
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'killed-at-once',
    subscriptions: { '/c': {}, '/d': {} },
  })
  await direct.register(stack().client)
  await Promise.all([
    ledger.publishAtRate({ count: MESSAGES, perSecond: QUICKLY_PER_SECOND }),
    direct.publishAll(stack().client, TEXTS),
  ])
  await Promise.all([
    stack().redis.kill(),
    ...stack()
      .services()
      .map((service) => service.kill()),
  ])
  await stack().redis.restart()
  const startedAt = performance.now()
  await Promise.all(
    stack()
      .services()
      .map((service) => service.start()),
  )
  const recoverySeconds = await ledger.recovered(startedAt)
  const account = await ledger.whenSettled()
  row.report({ ...account, messages: account.accepted, recoverySeconds })
  expect(account).toMatchObject({ lost: 0, delivered: account.owed })
  expect(account.accepted).toBeGreaterThan(MESSAGES)
  expect(await direct.whenSettled()).toMatchObject({ accepted: TEXTS, lost: 0 })
}, 120_000)

test(
  'nothing is lost, whatever is killed at whatever instant',
  async () => {
    const row = beginFault('kills')
    const numberOf = (text: string) => Number(text.slice(1))
    receiver().respond('/flaky', ({ text, attempt }) => ({
      status: attempt <= numberOf(text) % 3 ? 503 : 200,
    }))
    // The first request of every tenth message is refused permanently, so it only arrives by a redrive.
    receiver().respond('/refusing', ({ text, attempt }) => ({
      status: attempt === 1 && numberOf(text) % 10 === 0 ? 404 : 200,
    }))
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic: 'killed',
      subscriptions: {
        '/steady': {},
        '/flaky': { deliveryPolicy: retries(20, { numNoDelayRetries: 20 }) },
        '/refusing': {},
      },
      deadLetterQueue: 'killed-dead',
    })
    await direct.register(stack().client)
    direct.beginAnew()
    const count = RUN_SECONDS * PER_SECOND
    let ended = false
    let kills = 0
    const until = () => kills > KILLS_MIN
    const publishing = ledger.publishAtRate({ count, perSecond: PER_SECOND, until }).finally(() => {
      ended = true
    })
    const redriving = redriveAgainAndAgain(() => ended)
    const texting = direct.publishUntil(stack().client, () => ended, DIRECT_EVERY_MS)
    const killed = new KilledWork()
    for await (const _ of killAtRandom(killed, () => ended)) kills++
    const lastKillAt = performance.now()
    await publishing
    await redriving
    await texting
    const recoverySeconds = await ledger.recovered(lastKillAt)
    await ledger.whenSettled({ timeoutMs: 60_000 })
    await redriveAll()
    const account = await ledger.whenSettled({ timeoutMs: 60_000 })
    row.report({ ...account, messages: account.accepted, recoverySeconds })
    expect(kills).toBeGreaterThan(KILLS_MIN)
    expect(account).toMatchObject({ lost: 0, refusedYetSeen: 0, discarded: 0, expired: 0, deadLettered: 0 })
    expect(account.delivered).toBe(account.owed)
    const texts = await direct.whenSettled()
    expect(texts.lost).toBe(0)
    killed.expectExplained(stack().workers, ledger.arrivals(), direct.arrivals())
  },
  (RUN_SECONDS + 150) * 1_000,
)

/** Kills one process after the other, and starts each again, like a supervisor. Yields after each. */
async function* killAtRandom(killed: KilledWork, ended: () => boolean): AsyncGenerator<void> {
  const services = stack().services()
  for (;;) {
    await untilPassed(anyBetween(PAUSE_MS.from, PAUSE_MS.to))
    if (ended()) return
    const victim = services[Math.floor(Math.random() * services.length)]
    if (victim?.name === 'delivery-worker') await killed.restart(victim, stack().connection)
    else await victim?.restart()
    yield
  }
}

async function redriveAgainAndAgain(ended: () => boolean): Promise<void> {
  while (!ended()) {
    await untilPassed(REDRIVE_EVERY_MS)
    // The API refuses this while the last redrive has not ended, and does not answer while it is down.
    await stack()
      .client.call('POST', '/v1/redrives', { body: { source: 'killed-dead' } })
      .catch(() => undefined)
  }
}

/** Redrives the dead-letter queue until it is empty. */
async function redriveAll(): Promise<void> {
  const { client } = stack()
  const isEmpty = async () => {
    await client.call('POST', '/v1/redrives', { body: { source: 'killed-dead' } })
    const { counts } = await client.get<{ counts: Record<string, number> }>('/v1/queues/killed-dead')
    return Object.values(counts).every((count) => count === 0)
  }
  await waitFor(isEmpty, { what: 'the dead-letter queue to be empty', timeoutMs: 60_000, intervalMs: 500 })
}
