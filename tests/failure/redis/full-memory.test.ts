/**
 * Callers fill the memory with settings instead of messages. Past the watermark, everything that would grow is refused.
 * When memory is completely full, everything accepted still ends normally, and everything that frees memory still runs.
 */
import { CreateTopicCommand, SetTopicAttributesCommand } from '@aws-sdk/client-sns'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { topicArn, useAwsClients } from '../../harness/aws/aws-clients.ts'
import { beginFault, LONG } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { retries } from '../../harness/receivers/webhooks.ts'
import { redisFigure } from '../../harness/services/process-figures.ts'
import { useStack } from '../../harness/services/stack.ts'

const MEMORY_BYTES = (LONG ? 96 : 32) * 1_048_576
/**
 * docs/reliability.md has this sum: dead letters may use more than maxmemory, and connections and scripts have buffers.
 */
const PEAK_BYTES_MAX = MEMORY_BYTES * 1.05 + 4 * 1_048_576
const MESSAGES = LONG ? 1_000 : 100
const POLICY_BYTES = 27_000
const CALLERS = 32

const stack = useStack({
  workers: 2,
  redrive: true,
  redis: { args: ['--maxmemory', String(MEMORY_BYTES)] },
})
const aws = useAwsClients(stack)
const receiver = useReceiver()

const statement = {
  Effect: 'Allow',
  Principal: { AWS: '*' },
  Action: 'SNS:Publish',
  Resource: '*',
  Sid: 'x'.repeat(POLICY_BYTES),
}
const POLICY = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })

test('growth by callers is refused, and all that was accepted ends although memory is full', async () => {
  const row = beginFault('full-memory')
  const { client, connection } = stack()
  receiver().respond('/flaky', ({ attempt }) => ({ status: attempt < 3 ? 503 : 200 }))
  receiver().respond('/gone', () => ({ status: 404 }))
  const ledger = await Ledger.open({
    stack: stack(),
    receiver: receiver(),
    topic: 'before',
    subscriptions: { '/ok': {}, '/flaky': { deliveryPolicy: retries(20) }, '/gone': {} },
    deadLetterQueue: 'letters',
  })
  await client.put('/v1/topics/idle')
  const change = (verb: string) =>
    Promise.all(ledger.subscriptions.map(({ id }) => client.post(`/v1/subscriptions/${id}/${verb}`)))
  await change('pause')
  for (let n = 0; n < MESSAGES; n++) await ledger.publish(`m${n} `.padEnd(2_000, 'x'))

  const outcomes = await fillWithTopics()
  const statuses = new Set(outcomes.map(({ status }) => status))
  expect(statuses).toEqual(new Set([200, 503]))
  expect(await usedBytes()).toBeLessThan(MEMORY_BYTES)
  await expectGrowthRefused()

  const missing = MEMORY_BYTES - (await usedBytes())
  await connection.setrange('ballast', missing, 'x')
  expect(await usedBytes()).toBeGreaterThan(MEMORY_BYTES)
  await expect(connection.set('more', '1')).rejects.toThrow('OOM')
  await expectGrowthRefused()
  const peak = watchPeak()
  await change('resume')
  const account = await ledger.whenSettled({ timeoutMs: 60_000 })
  await change('pause')
  await change('resume')
  await client.delete('/v1/topics/idle')
  const { shrunk } = await shrink(outcomes)
  expect(shrunk).toBe(200)
  const peakBytes = await peak.stop()
  await connection.del('ballast')

  row.report({
    messages: account.accepted,
    lost: account.lost,
    duplicates: account.duplicates,
    recoverySeconds: null,
  })
  expect(account).toMatchObject({
    lost: 0,
    refusedYetSeen: 0,
    expired: 0,
    discarded: 0,
    deadLettered: MESSAGES,
  })
  expect(account.delivered).toBe(2 * MESSAGES)
  expect(peakBytes).toBeLessThan(PEAK_BYTES_MAX)
}, 180_000)

interface Outcome {
  name: string
  status: number
}

/** Creates topics until every caller has been refused. */
async function fillWithTopics(): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const topicsMax = (3 * MEMORY_BYTES) / POLICY_BYTES
  const caller = async (number: number) => {
    for (let n = 0; outcomes.length < topicsMax; n++) {
      const name = `large-${number}-${n}`
      const status = await statusOf(new CreateTopicCommand({ Name: name, Attributes: { Policy: POLICY } }))
      outcomes.push({ name, status })
      if (status !== 200) return
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)))
  return outcomes
}

async function statusOf(command: CreateTopicCommand | SetTopicAttributesCommand): Promise<number> {
  try {
    await aws().sns.send(command as CreateTopicCommand)
    return 200
  } catch (error) {
    return (error as { $metadata: { httpStatusCode: number } }).$metadata.httpStatusCode
  }
}

/** Removes the policy of a topic that has one. */
async function shrink(outcomes: Outcome[]): Promise<{ shrunk: number }> {
  const made = outcomes.find(({ status }) => status === 200)
  const TopicArn = topicArn(made?.name ?? '')
  const attribute = { AttributeName: 'Policy', AttributeValue: '' }
  return { shrunk: await statusOf(new SetTopicAttributesCommand({ TopicArn, ...attribute })) }
}

/** Checks that everything is refused which a caller may create, send or make longer. */
async function expectGrowthRefused(): Promise<void> {
  const longer = { displayName: 'x'.repeat(90) }
  const pattern = { kind: ['x'.repeat(200)] }
  const calls: [method: string, path: string, body: object][] = [
    ['PUT', '/v1/topics/one-more', {}],
    ['PUT', '/v1/topics/one-more.fifo', {}],
    ['PATCH', '/v1/topics/idle', longer],
    ['POST', '/v1/topics/idle/subscriptions', { endpoint: `${receiver().url}/new` }],
    ['PUT', '/v1/queues/one-more', {}],
    [
      'PATCH',
      '/v1/queues/letters',
      { redrivePolicy: { deadLetterTargetArn: 'letters', maxReceiveCount: 1_000 } },
    ],
    ['PUT', '/v1/queues/letters/consumers/new', { url: `${receiver().url}/push` }],
    ['POST', '/v1/queues/letters/messages', { body: 'x' }],
    ['POST', '/v1/topics/idle/messages', { message: 'x' }],
    ['POST', '/v1/keys', { name: 'new', scopes: ['read'] }],
  ]
  const [subscription] = (
    await stack().client.get<{ subscriptions: { id: string }[] }>('/v1/subscriptions?topic=before')
  ).subscriptions
  calls.push(['PATCH', `/v1/subscriptions/${subscription?.id}`, { filterPolicy: pattern }])
  for (const [method, path, body] of calls) {
    const answer = await stack().client.call<{ error: { code: string } }>(method, path, { body })
    expect([method, path, answer.status, answer.body.error?.code]).toEqual([
      method,
      path,
      503,
      'storage_full',
    ])
  }
}

async function usedBytes(): Promise<number> {
  return redisFigure(stack().connection, 'memory', 'used_memory')
}

/** Watches the use of memory until `stop`, and returns the highest. */
function watchPeak() {
  let peak = 0
  let stopped = false
  const watching = waitFor(
    async () => {
      peak = Math.max(peak, await usedBytes())
      return stopped
    },
    { what: 'the end of the run', timeoutMs: 120_000, intervalMs: 20 },
  )
  return {
    stop: async () => {
      stopped = true
      await watching
      return peak
    },
  }
}
