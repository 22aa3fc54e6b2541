/**
 * An endpoint that refuses everything at full rate. Its dead letters fill their share of memory and no more. Publishing
 * continues, and other topics and their dead letters are not affected.
 */
import { Counts, readMemory } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { useStack } from '../../harness/services/stack.ts'

const MEMORY_BYTES = 64 * 1_048_576
const QUEUE_SHARE = 0.05
/** The share of memory above which publishing is refused. */
const WATERMARK = 0.75
const MESSAGES = LONG ? 20_000 : 1_500
const BATCH = 25
const TEXT_BYTES = 2_000
const HEALTHY = 100

const stack = useStack({ workers: 1, redis: { args: ['--maxmemory', String(MEMORY_BYTES)] } })
const receiver = useReceiver()

test('a dead endpoint at full rate stops nobody, and its newest dead letters are kept within their share', async () => {
  const row = beginFault('dead-endpoint')
  const { client, connection } = stack()
  receiver().respond('/dead', () => ({ status: 404 }))
  await client.put('/v1/topics/dead')
  await client.post('/v1/topics/dead/subscriptions', { endpoint: `${receiver().url}/dead` })
  await client.put('/v1/topics/seldom')
  await client.post('/v1/topics/seldom/subscriptions', { endpoint: `${receiver().url}/dead?seldom` })
  await client.post('/v1/topics/seldom/messages', { message: 'older than all' })
  const healthy = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'healthy',
    subscriptions: { '/healthy': {} },
  })
  const flooding = flood(client)
  await healthy.publishAtRate({ count: HEALTHY, perSecond: 25 })
  await flooding
  // Do not wait for the ledger's account to balance. It uses the counters of the whole stack, so it would count dead
  // letters of topic `dead` that were discarded as deliveries of topic `healthy`.
  await waitFor(() => healthy.missing().length === 0, { what: 'every healthy delivery' })
  const arrived = receiver().requestsTo('/healthy').length
  const counts = () => new Counts(connection).read()
  await waitFor(async () => (await counts()).deadLettered === MESSAGES + 1, {
    what: 'every dead letter',
    timeoutMs: 60_000,
  })
  const { 'discarded:deadLetterQuota': discarded = 0, ...others } = await counts()
  row.report({ messages: MESSAGES, lost: 0, duplicates: arrived - HEALTHY, recoverySeconds: null })
  expect([healthy.count('accepted'), arrived]).toEqual([HEALTHY, HEALTHY])
  expect(others).toEqual({ deadLettered: MESSAGES + 1 })

  const kept = await lettersOf('dead-dead-letters')
  expect(kept + discarded).toBe(MESSAGES)
  // A letter contains the message twice: as its subscriber would have got it, and as it was published.
  expect(kept).toBeGreaterThan((0.8 * QUEUE_SHARE * MEMORY_BYTES) / (2 * TEXT_BYTES + 3_000))
  expect(kept).toBeLessThan((QUEUE_SHARE * MEMORY_BYTES) / (2 * TEXT_BYTES))
  expect(await lettersOf('seldom-dead-letters')).toBe(1)
  const { usedBytes } = await readMemory(connection)
  expect(usedBytes).toBeLessThan(WATERMARK * MEMORY_BYTES)
}, 120_000)

/** Rejects if a request is refused. */
async function flood(client: ReturnType<typeof stack>['client']): Promise<void> {
  for (let n = 0; n < MESSAGES; n += BATCH) {
    const messages = Array.from({ length: BATCH }, (_, i) => ({
      message: `${n + i} `.padEnd(TEXT_BYTES, 'x'),
    }))
    await client.post('/v1/topics/dead/messages', { messages })
  }
}

async function lettersOf(queue: string): Promise<number> {
  const { counts } = await stack().client.get<{ counts: { visible: number } }>(`/v1/queues/${queue}`)
  return counts.visible
}
