/**
 * Many more endpoints than slots accept requests and never answer. Waiting lanes cost Redis nothing. Every lane gets a
 * turn before another gets its second. A healthy subscription is served meanwhile, and everything is delivered once the
 * endpoints answer.
 */
import { type ReceivedRequest, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import {
  type LaneCommands,
  perAttempt,
  perRun,
  watchLaneCommands,
} from '../../harness/redis/lane-commands.ts'
import { useStack } from '../../harness/services/stack.ts'

const MESSAGES = 4
const RETRIES = 50
const ATTEMPTS_MAX = 64
/** Slots for endpoints that do not answer. */
const SLOTS = ATTEMPTS_MAX / 2
const NEVER_PAUSED = 10
/** Both numbers of lanes are larger than the number of slots, so lanes wait for a slot. */
const FEW = 2 * SLOTS
const MANY = LONG ? 1_500 : 128
const TIMEOUT_MS = 1_200
/** How many times more commands an attempt or a run of its scripts may need with many lanes than with few. */
const COST_FACTOR_MAX = 1.1
const HEALTHY_PER_SECOND = 20
const HEALTHY = 20
/**
 * The end of an attempt is written once each for the statistics (8 commands), the lane's results (4), and the recorded
 * attempts (4), after up to five seconds.
 */
const RECORD_COMMANDS_MAX = 16
/** Commands that all services send each second without work. */
const IDLE_PER_SECOND_MAX = 14
/**
 * Besides, they read all 63 other queues every ten seconds, and six keys of each of 48 shards every minute. The list of
 * topics with notices counts twice, because it is read and checked.
 */
const IDLE_CYCLES_MAX = 63 + 6 * 48
const ATTEMPTS = 5 * SLOTS
/** If no attempt begins or ends for this time, the earlier claims have arrived whole. */
const QUIET_MS = 50

const env = { FANTAIL_ATTEMPT_TIMEOUT_MS: String(TIMEOUT_MS), FANTAIL_ATTEMPTS_MAX: String(ATTEMPTS_MAX) }
const stack = useStack({ workers: 1, env })
const receiver = useReceiver()

test(
  'lanes that wait for hung endpoints cost nothing, get their turns, and are delivered when these answer',
  async () => {
    const row = beginFault('hung-lanes')
    const healthy = await openLedger('healthy', 1)
    const few = await besideHung('few', FEW, healthy)
    const many = await besideHung('many', MANY, healthy)
    const account = await healthy.whenSettled()
    const ledgers = [few.account, many.account, account]
    row.report({
      messages: ledgers.reduce((sum, { accepted }) => sum + accepted, 0),
      lost: ledgers.reduce((sum, { lost }) => sum + lost, 0),
      duplicates: ledgers.reduce((sum, { duplicates }) => sum + duplicates, 0),
      recoverySeconds: null,
    })
    console.info('Redis commands beside few and beside many:', few.commands, many.commands)
    for (const { lost, discarded, expired, waiting } of ledgers)
      expect({ lost, discarded, expired, waiting }).toEqual({ lost: 0, discarded: 0, expired: 0, waiting: 0 })
    expect(perAttempt(many.commands)).toBeLessThan(COST_FACTOR_MAX * perAttempt(few.commands))
    expect(perRun(many.commands)).toBeLessThan(COST_FACTOR_MAX * perRun(few.commands))
    for (const cost of [few, many]) expectOtherWorkBounded(cost)
  },
  LONG ? 600_000 : 120_000,
)

async function besideHung(topic: string, count: number, healthy: Ledger) {
  const hung = await openLedger(topic, count)
  const isHung = ({ path }: ReceivedRequest) => path.startsWith(`/${topic}/`)
  let answers = false
  let begun = 0
  receiver().respond(isHung, (_, n) => {
    begun = n
    return answers ? {} : { hang: 'beforeHeaders' }
  })
  await hung.publish(`${topic}-0`)
  await waitFor(() => begun >= SLOTS, { what: 'first attempts in all slots', timeoutMs: 60_000 })
  // Deliveries to paused lanes need no slot. Otherwise each message would take many time-outs to reach all lanes. A few
  // lanes are not paused, so that deliveries also reach their lanes while first attempts hold all slots.
  const most = hung.subscriptions.slice(NEVER_PAUSED)
  const post = (what: string) =>
    Promise.all(most.map(({ id }) => stack().client.post(`/v1/subscriptions/${id}/${what}`)))
  await post('pause')
  for (let n = 1; n < MESSAGES; n++) await hung.publish(`${topic}-${n}`)
  const dispatched = async () => (await hung.waiting()) === MESSAGES * count
  await waitFor(dispatched, { what: 'every delivery in its lane', timeoutMs: 60_000, intervalMs: 200 })
  await post('resume')
  const cost = await costOfAttempts(topic, count, () => begun)
  await healthy.publishAtRate({ count: HEALTHY, perSecond: HEALTHY_PER_SECOND, prefix: topic })
  await waitFor(() => healthy.missing().length === 0, { what: 'the healthy subscription to be served' })
  answers = true
  return { ...cost, account: await hung.whenSettled({ timeoutMs: 120_000 }) }
}

interface Cost {
  commands: LaneCommands
  /** Attempts so far. No more can have been written. */
  attempts: number
}

/** Also checks that each lane has a turn before another has its second. */
async function costOfAttempts(topic: string, lanes: number, attempts: () => number): Promise<Cost> {
  const begun = await whenQuiet(attempts)
  const counted = await watchLaneCommands(stack().connection)
  const enough = () => attempts() >= begun + ATTEMPTS
  await waitFor(enough, { what: `${ATTEMPTS} attempts`, timeoutMs: 120_000 })
  const commands = await counted()
  // Deliveries of one claim may arrive in any order.
  const served = receiver()
    .requestsTo(({ path }) => path.startsWith(`/${topic}/`))
    .slice(begun, begun + lanes - SLOTS)
    .map(({ path }) => path)
  expect(served.filter((path, i) => served.indexOf(path) < i)).toEqual([])
  return { commands, attempts: attempts() }
}

/** No bound depends on the number of lanes. */
function expectOtherWorkBounded({ commands, attempts }: Cost): void {
  const { claims, settlements, vain, records, idle, seconds } = commands
  // The end of an attempt or a claim asks for more at most once.
  expect(vain.runs).toBeLessThanOrEqual(claims.runs + settlements.runs)
  expect(records).toBeLessThanOrEqual(RECORD_COMMANDS_MAX * attempts)
  expect(idle).toBeLessThanOrEqual(IDLE_PER_SECOND_MAX * (seconds + 1) + IDLE_CYCLES_MAX)
}

/** How many attempts have begun, at a moment between claims. Only the hung endpoints have requests open. */
async function whenQuiet(attempts: () => number): Promise<number> {
  const look = () => ({ begun: attempts(), open: receiver().inFlight() })
  let [last, since] = [look(), performance.now()]
  const isQuiet = () => {
    const now = look()
    if (now.begun !== last.begun || now.open !== last.open) [last, since] = [now, performance.now()]
    return performance.now() - since >= QUIET_MS
  }
  await waitFor(isQuiet, { what: 'a moment between attempts', timeoutMs: 60_000, intervalMs: 5 })
  return last.begun
}

function openLedger(topic: string, count: number): Promise<Ledger> {
  const deliveryPolicy = retries(RETRIES)
  const paths = Array.from({ length: count }, (_, i) => `/${topic}/${i}`)
  const subscriptions = Object.fromEntries(paths.map((path) => [path, { deliveryPolicy }]))
  return Ledger.open({ stack: stack(), receiver: receiver(), topic, subscriptions })
}
