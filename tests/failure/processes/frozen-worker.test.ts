/** A worker is frozen in the middle of an attempt. It continues when another worker has finished its work. */
import { waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { useStack } from '../../harness/services/stack.ts'

const LEASES_END_MS = 30_000

const stack = useStack({ workers: 2 })
const receiver = useReceiver()

beforeEach(async () => {
  for (const worker of stack().workers) if (!worker.running) await worker.start()
})
afterEach(() => {
  for (const worker of stack().workers) worker.signal('SIGCONT')
})

test.each([
  ['lane', { throttlePolicy: { maxReceivesPerSecond: 100 } }],
  ['dispatch', null],
])(
  'an attempt by %s that ends after another worker delivered changes nothing',
  async (topic, deliveryPolicy) => {
    const { connection } = stack()
    const [zombie, successor] = [stack().worker(0), stack().worker(1)]
    await successor.kill()
    const late = Promise.withResolvers<void>()
    receiver().respond(`/${topic}`, (_request, n) => (n === 1 ? { status: 404, until: late.promise } : {}))
    const ledger = await Ledger.open({
      stack: stack(),
      receiver: receiver(),
      topic,
      subscriptions: { [`/${topic}`]: { deliveryPolicy } },
      deadLetterQueue: `dead-${topic}`,
    })
    await ledger.publish('taken over')
    await receiver().waitForRequests(1, `/${topic}`)
    zombie.signal('SIGSTOP')
    await successor.start()
    await moveRedisTime(connection, LEASES_END_MS)
    await receiver().waitForRequests(2, `/${topic}`, 25_000)
    await ledger.whenSettled()
    await waitFor(async () => (await connection.llen('ft:{dispatch-0}:dispatch-0:active')) === 0)
    late.resolve()
    await successor.kill()
    zombie.signal('SIGCONT')
    // The revived worker delivers this message after it has settled its earlier work.
    await ledger.publish('after')
    await receiver().waitForRequests(1, ({ text }) => text === 'after')
    const account = await ledger.whenSettled()
    expect(account).toMatchObject({ delivered: 2, deadLettered: 0, discarded: 0, waiting: 0, duplicates: 0 })
    expect(receiver().requestsTo(`/${topic}`)).toHaveLength(3)
  },
  60_000,
)
