/**
 * A worker is killed at every step of a delivery. One kill comes before Redis gets the step's script, another after
 * Redis has run it and before the worker gets the reply. The next worker finishes the delivery once, with the right
 * end. Nothing of a killed worker is left but what Redis holds. So no case has a kill before a step if Redis then holds
 * the same as in another case.
 */
import { waitFor } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { beginFault } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { DISPATCH_JOBS, endJobLocks } from '../../harness/redis/job-locks.ts'
import { killAt } from '../../harness/redis/kill-at.ts'
import { all, hasArgument, runsScript } from '../../harness/redis/redis-requests.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { useStack } from '../../harness/services/stack.ts'

/** Longer than every lease: an attempt's, and a dead delivery's while it is appended. */
const LEASES_END_MS = 30_000
/** The attempt is due after the leases have ended, and not before. */
const RETRY_SECONDS = 20

const stack = useStack({ workers: 1, proxied: 'delivery-worker' })
const receiver = useReceiver()

const settle = runsScript('settle-deliveries-1')

/** For each step: how to recognise its request, and how many attempts have arrived before it. */
const STEPS = {
  park: [runsScript('park-deliveries-1'), 1],
  // BullMQ's own script: only it names this key from a worker.
  'complete the job': [(request: Buffer) => request.includes(':dispatch-0:completed'), 1],
  take: [runsScript('take-deliveries-1'), 1],
  'declare dead': [all(settle, hasArgument('declareDead')), 2],
  'append to the dead-letter queue': [runsScript('send-messages-1'), 2],
  'append to the queue that it makes': [runsScript('send-letter-1'), 2],
  'settle what is dead': [all(settle, hasArgument('deadLettered')), 2],
  'settle as delivered': [all(settle, hasArgument('delivered')), 2],
  'settle for a retry': [all(settle, hasArgument('retry')), 2],
} as const
type Step = keyof typeof STEPS

/** Answers to the attempts of one delivery. Later attempts get the last answer. */
const DELIVERED_LATER = [503, 200]
const RETRIED_TWICE = [503, 503, 200]
const DEAD = [503, 404]

const CASES: [Step, 'before' | 'after', number[]][] = [
  ['park', 'before', DELIVERED_LATER],
  ['park', 'after', DELIVERED_LATER],
  ['complete the job', 'before', DELIVERED_LATER],
  ['complete the job', 'after', DELIVERED_LATER],
  ['take', 'before', DELIVERED_LATER],
  ['take', 'after', DELIVERED_LATER],
  ['settle as delivered', 'before', DELIVERED_LATER],
  ['settle as delivered', 'after', DELIVERED_LATER],
  ['settle for a retry', 'after', RETRIED_TWICE],
  ['declare dead', 'before', DEAD],
  ['declare dead', 'after', DEAD],
  ['append to the dead-letter queue', 'after', DEAD],
  ['append to the queue that it makes', 'before', DEAD],
  ['append to the queue that it makes', 'after', DEAD],
  ['settle what is dead', 'before', DEAD],
  ['settle what is dead', 'after', DEAD],
]

const row = beginFault('crash-points')
let [lost, duplicates] = [0, 0]

test.each(CASES)(
  'killed at: %s (%s)',
  async (step, at, answers) => {
    const name = nameOf(step, at)
    const ledger = await openLedger(step, name, answers)
    const [matches, attemptsBefore] = STEPS[step]
    const attempts = () => receiver().requestsTo(`/${name}`).length
    const killed = killAt(
      { proxy: stack().proxy, service: stack().worker(0) },
      // A first attempt with a late answer is parked under a lease, and then settled like a later one.
      { matches: (request) => attempts() === attemptsBefore && matches(request), at },
    )
    expect(await ledger.publish(name)).toBe('accepted')
    await killed
    expect(attempts()).toBe(attemptsBefore)
    await moveRedisTime(stack().connection, LEASES_END_MS)
    await endJobLocks(stack().connection, DISPATCH_JOBS)
    await stack().worker(0).start()
    const account = await ledger.whenSettled()
    lost += account.lost
    duplicates += account.duplicates
    const dead = answers === DEAD ? 1 : 0
    expect(account).toMatchObject({
      delivered: 1 - dead,
      deadLettered: dead,
      discarded: 0,
      expired: 0,
      lost: 0,
    })
    expect(await deadLettersOf(name)).toBe(dead)
  },
  40_000,
)

function nameOf(step: Step, at: 'before' | 'after'): string {
  return `${step}-${at}`.replaceAll(' ', '-')
}

async function openLedger(step: Step, name: string, answers: number[]): Promise<Ledger> {
  receiver().respond(`/${name}`, (_, n) => ({ status: answers[n - 1] ?? answers.at(-1) ?? 200 }))
  // The job is completed while its lanes have work. The long delay keeps their attempts from continuing meanwhile.
  const delayed = { minDelayTarget: RETRY_SECONDS, maxDelayTarget: RETRY_SECONDS, numRetries: 10 }
  const atOnce = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 10, numNoDelayRetries: 10 }
  const deliveryPolicy = { healthyRetryPolicy: step === 'complete the job' ? delayed : atOnce }
  return Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: name,
    subscriptions: { [`/${name}`]: { deliveryPolicy, ...(isOwn(name) && { redrivePolicy: {} }) } },
    ...(isOwn(name) ? { ownDeadLetterQueue: true } : { deadLetterQueue: `dead-${name}` }),
  })
}

/** Whether the dead letters of this case go to the topic's own queue. */
function isOwn(name: string): boolean {
  return name.startsWith('append-to-the-queue-that-it-makes')
}

async function deadLettersOf(name: string): Promise<number> {
  const queue = isOwn(name) ? `${name}-dead-letters` : `dead-${name}`
  const { counts } = await stack().client.get<{ counts: { visible: number } }>(`/v1/queues/${queue}`)
  return counts.visible
}

test('jobs taken over repeat nothing that was recorded, and nothing is left behind', async () => {
  const { connection } = stack()
  await waitFor(async () => (await connection.llen(`${DISPATCH_JOBS}:active`)) === 0, {
    what: 'every job to be taken over',
  })
  for (const [step, at, answers] of CASES) {
    const attempts = receiver().requestsTo(`/${nameOf(step, at)}`).length
    const unrecorded = at === 'before' && (step === 'settle as delivered' || step === 'declare dead')
    expect([step, at, attempts]).toEqual([step, at, answers.length + (unrecorded ? 1 : 0)])
  }
  const keys = await connection.keys('ft:*')
  expect(keys.filter((key) => /:(msg|fresh|retry|lease|state):/.test(key))).toEqual([])
})

afterAll(() => row.report({ messages: CASES.length, lost, duplicates, recoverySeconds: null }))
