/**
 * If a batch has more deliveries than one worker should make, its job is divided into parts. The worker that divides it
 * is killed at each step: everything arrives, and no settled delivery is repeated. Nothing of a killed worker is left
 * but what Redis holds. So no case has a kill before a step if Redis then holds the same as in another case.
 */
import { waitFor } from '@fantail/test-kit'
import { beforeAll, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { DISPATCH_JOBS, endJobLocks } from '../harness/redis/job-locks.ts'
import { killAt } from '../harness/redis/kill-at.ts'
import { all, runsScript } from '../harness/redis/redis-requests.ts'
import { useStack } from '../harness/services/stack.ts'

/**
 * Without filters the batch would have 6,000 deliveries, so its job is divided. With them it has two parts: 1,995
 * deliveries and 105.
 */
const SUBSCRIPTIONS = 60
const MATCHING = 21
const MESSAGES = 100
const DELIVERIES = MATCHING * MESSAGES
const PARTS = 2
/** Deliveries under way when a worker dies. */
const REPEATED_MAX = 500

const stack = useStack({ workers: 1, proxied: 'delivery-worker' })
const receiver = useReceiver()

beforeAll(async () => {
  await stack().client.put('/v1/topics/wide')
  for (let i = 0; i < SUBSCRIPTIONS; i++) {
    const endpoint = `${receiver().url}/wide/${i}`
    const filterPolicy = i < MATCHING ? null : { kind: ['other'] }
    const subscription = { endpoint, rawMessageDelivery: true, filterPolicy }
    await stack().client.post('/v1/topics/wide/subscriptions', subscription)
  }
}, 60_000)

const addsPart = (request: Buffer) => request.includes('"part":{"messages":')
// Only BullMQ's own scripts send this key from a worker.
const completes = (request: Buffer) => request.includes(':dispatch-0:completed')
const waits = (request: Buffer) => request.includes(':dispatch-0:waiting-children')
/** Recognises the id of a part. Ids of jobs have another form. */
const isOfPart = (request: Buffer) => /\d+-[0-9a-z]{8}-\d/.test(request.toString('latin1'))

const STEPS = {
  'note how it is cut': runsScript('note-parts-1'),
  'add the parts': addsPart,
  'wait for the parts': waits,
  'complete a part': all(completes, isOfPart),
  'complete the job': all(completes, (request) => !isOfPart(request)),
}

const jobsAdded = async () => Number(await stack().connection.get(`${DISPATCH_JOBS}:id`))
/** Number of keys of jobs and parts that BullMQ still has. */
const left = async () => {
  const keys = await stack().connection.keys(`${DISPATCH_JOBS}:*`)
  return keys.filter((key) =>
    /:(\d|wait$|active$|waiting-children$|delayed$|failed$)/.test(key.slice(DISPATCH_JOBS.length)),
  )
}

test.each([
  // A job that is not noted and is only a little over the limit runs whole.
  ['note how it is cut', 'before', 0],
  ['note how it is cut', 'after', PARTS],
  ['add the parts', 'after', PARTS],
  ['wait for the parts', 'after', PARTS],
  ['complete a part', 'before', PARTS],
  ['complete a part', 'after', PARTS],
  ['complete the job', 'before', PARTS],
  ['complete the job', 'after', PARTS],
] as const)(
  'killed at: %s (%s)',
  async (step, at, parts) => {
    const prefix = `${step} ${at}`
    const seen = new Set<string>()
    let made = 0
    receiver().respond(
      ({ text }) => text.startsWith(prefix),
      ({ path, text }) => {
        made++
        seen.add(`${path} ${text}`)
        return {}
      },
    )
    const added = await jobsAdded()
    const killed = killAt({ proxy: stack().proxy, service: stack().worker(0) }, { matches: STEPS[step], at })
    const messages = Array.from({ length: MESSAGES }, (_, i) => ({ message: `${prefix} ${i}` }))
    await stack().client.post('/v1/topics/wide/messages', { messages })
    await killed
    await endJobLocks(stack().connection, DISPATCH_JOBS)
    await stack().worker(0).start()
    await waitFor(() => seen.size === DELIVERIES, { timeoutMs: 40_000, what: 'all deliveries' })
    await waitFor(async () => (await left()).length === 0, { timeoutMs: 20_000, what: 'the job to be gone' })
    // Deliveries under way when the worker died are made again, from the last checkpoint.
    expect(made).toBeLessThan(DELIVERIES + REPEATED_MAX)
    // The counter also counts attempts to add a part that exists.
    const tried = (await jobsAdded()) - added - 1
    if (parts === 0) expect(tried).toBe(0)
    else expect(tried).toBeGreaterThanOrEqual(parts)
  },
  60_000,
)
