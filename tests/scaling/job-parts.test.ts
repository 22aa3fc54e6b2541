/**
 * A batch that comes to more deliveries than one worker should have by itself is cut into parts. The worker that cuts it is
 * killed at each step of that: everything arrives, and nothing that was settled again.
 */
import { waitFor } from '@fantail/test-kit'
import { beforeAll, expect, test } from 'vitest'
import { all, hasArgument, runsScript } from '../harness/redis-requests.ts'
import { useStack } from '../harness/stack.ts'
import { useReceiver } from '../harness/use-receiver.ts'

const SUBSCRIPTIONS = 60
const MESSAGES = 100
const DELIVERIES = SUBSCRIPTIONS * MESSAGES
const JOBS = 'ft:{dispatch-0}:dispatch-0'

const stack = useStack({ workers: 1, proxied: 'delivery-worker' })
const receiver = useReceiver()

beforeAll(async () => {
  await stack().client.put('/v1/topics/wide')
  for (let i = 0; i < SUBSCRIPTIONS; i++) {
    const endpoint = `${receiver().url}/wide/${i}`
    await stack().client.post('/v1/topics/wide/subscriptions', { endpoint, rawMessageDelivery: true })
  }
}, 60_000)

const addsPart = (request: Buffer) => request.includes('"part":{"slices":')

const STEPS = {
  'note how it is cut': all(runsScript('park-deliveries-1'), hasArgument('parts')),
  'add the parts': addsPart,
  // BullMQ's own script: only it names this key from a worker.
  'complete the job': (request: Buffer) => request.includes(':dispatch-0:completed'),
}

test.each([
  // What was not noted and is not much more than a job may be is run whole.
  ['note how it is cut', 'before', 0],
  ['note how it is cut', 'after', 4],
  ['add the parts', 'before', 4],
  ['add the parts', 'after', 4],
  ['complete the job', 'before', 4],
] as const)(
  'killed at: %s (%s)',
  async (step, at, parts) => {
    receiver().clear()
    const prefix = `${step} ${at}`
    const reached = stack().proxy.trap({ matches: STEPS[step], at, silent: true })
    const messages = Array.from({ length: MESSAGES }, (_, i) => ({ message: `${prefix} ${i}` }))
    await stack().client.post('/v1/topics/wide/messages', { messages })
    await reached
    await stack().worker(0).kill()
    await stack().worker(0).start()
    const seen = () => new Set(receiver().requests.map(({ path, text }) => `${path} ${text}`))
    await waitFor(() => seen().size === DELIVERIES, {
      timeoutMs: 40_000,
      intervalMs: 200,
      what: 'all deliveries',
    })
    const lists = ['wait', 'active']
    const left = async () => {
      const lengths = await Promise.all(lists.map((list) => stack().connection.llen(`${JOBS}:${list}`)))
      return lengths.reduce((sum, length) => sum + length, 0)
    }
    await waitFor(async () => (await left()) === 0, { what: 'every part to be completed' })
    // Parts that were being sent when their worker died are sent again from their last checkpoint.
    expect(receiver().requests.length).toBeLessThan(1.1 * DELIVERIES)
    const notes = await stack().connection.keys(`${JOBS}:part:*`)
    expect(notes).toHaveLength(parts)
    if (notes.length > 0) await stack().connection.del(notes)
  },
  60_000,
)
