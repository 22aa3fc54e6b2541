/** Fair queues: how message groups share the consumers of a standard queue. queues-model.test.ts has their states. */
import { watchCommands } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { queueKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { includedBy } from '../scripts/lua-files.ts'
import { withNames } from '../scripts/lua-names.ts'
import { newArn, useQueues } from './queues.fixture.ts'
import { checkGroups } from './queues-model.fixture.ts'

const fixture = await useQueues()

async function aQueue(): Promise<string> {
  const arn = newArn()
  await fixture.queues.put(arn, { visibilityTimeoutSeconds: 100 })
  return arn
}

async function send(arn: string, groupId: string | undefined, ...bodies: string[]): Promise<void> {
  await fixture.queues.send(
    arn,
    bodies.map((body) => ({ body, ...(groupId !== undefined && { groupId }) })),
  )
}

async function sendMany(arn: string, groupId: string, count: number): Promise<void> {
  await send(arn, groupId, ...Array.from({ length: count }, () => groupId))
}

async function receive(arn: string, maxMessages: number) {
  const messages = await fixture.queues.receive(arn, { maxMessages })
  return { bodies: messages.map(({ body }) => body), handles: messages.map((m) => m.receiptHandle ?? '') }
}

const groupsOf = async (arn: string) => (await fixture.queues.getWithCounts(arn))?.groups

test('a message of a quiet group comes with the next receive, before hundreds of a noisy group', async () => {
  const arn = await aQueue()
  await sendMany(arn, 'noisy', 500)
  for (let i = 0; i < 5; i++) await receive(arn, 10)
  await send(arn, 'a', 'quiet 1')
  await send(arn, undefined, 'alone')
  await send(arn, 'b', 'quiet 2', 'quiet 3')
  expect(await groupsOf(arn)).toMatchObject({ noisy: 1, quietVisible: 4, quietInFlight: 0 })
  expect((await groupsOf(arn))?.quietOldestSince).toBeGreaterThan(0)
  expect((await receive(arn, 3)).bodies).toEqual(['quiet 1', 'alone', 'quiet 2'])
  expect((await receive(arn, 3)).bodies).toEqual(['quiet 3', 'noisy', 'noisy'])
  expect(await groupsOf(arn)).toEqual({ noisy: 1, quietVisible: 0, quietInFlight: 4, quietOldestSince: null })
})

test('a group with most of the processing time steps back, although it has little in flight', async () => {
  const arn = await aQueue()
  await sendMany(arn, 'slow', 9)
  for (let i = 1; i <= 3; i++) {
    const { handles } = await receive(arn, 1)
    await fixture.skew(i * 1_000)
    await fixture.queues.ack(arn, handles)
  }
  await send(arn, 'quick', 'quick')
  expect((await receive(arn, 2)).bodies).toEqual(['quick', 'slow'])
  await fixture.skew(0)
})

test('the noisy group with the fewest messages in flight comes first, then that with the least time', async () => {
  const arn = await aQueue()
  await sendMany(arn, 'a', 60)
  await receive(arn, 40)
  await sendMany(arn, 'b', 60)
  await receive(arn, 35)
  expect(await groupsOf(arn)).toMatchObject({ noisy: 2 })
  expect((await receive(arn, 5)).bodies).toEqual(Array(5).fill('b'))
  expect((await receive(arn, 4)).bodies.sort()).toEqual(['a', 'a', 'b', 'b'])
})

test('a group that has fallen below its share goes by the order of sending again', async () => {
  const arn = await aQueue()
  await sendMany(arn, 'a', 50)
  const { handles } = await receive(arn, 40)
  await send(arn, 'b', 'b 1')
  const next = await receive(arn, 1)
  expect(next.bodies).toEqual(['b 1'])
  await fixture.queues.ack(arn, [...handles, ...next.handles])
  await fixture.skew(600_000)
  await send(arn, 'b', 'b 2')
  expect((await receive(arn, 1)).bodies).toEqual(['a'])
  expect(await groupsOf(arn)).toMatchObject({ noisy: 0, quietVisible: 10 })
  await fixture.skew(0)
})

test('an idle group leaves nothing behind, nor does the last group of a queue', async () => {
  const arn = await aQueue()
  const before = await fixture.keys()
  const isGrouped = () => fixture.redis.hexists(queueKey(arn), 'gr')
  await send(arn, 'a', 'a')
  await send(arn, undefined, 'alone')
  expect(await isGrouped()).toBe(1)
  const first = await receive(arn, 2)
  await fixture.queues.ack(arn, first.handles.slice(0, 1))
  await checkGroups(fixture.redis, arn)
  await fixture.queues.ack(arn, first.handles)
  expect(await fixture.keys()).toEqual(before)
  expect(await isGrouped()).toBe(0)
})

const REDRIVE = withNames(
  'a step of a redrive',
  `${includedBy('-- @include queue\n').join('')}
local queue = open_queue(KEYS[1], ARGV[1])
if ARGV[2] == 'choose' then return choose_item(queue, ARGV[3]) end
redis.call('ZREM', queue.q .. 'chosen', ARGV[3])
show_item(queue, ARGV[3])`,
)

test('a redrive takes messages of groups from wherever they are, and gives them back', async () => {
  const arn = await aQueue()
  const { queues, redis } = fixture
  const sent = await queues.send(
    arn,
    ['a', 'a', 'b'].map((groupId) => ({ body: groupId, groupId })),
  )
  await receive(arn, 1)
  for (const step of ['choose', 'show']) {
    for (const { messageId } of sent) {
      await redis.eval(REDRIVE, 1, shardBase(shardOf(arn)), arn, step, messageId)
      await checkGroups(redis, arn)
    }
    expect((await queues.getWithCounts(arn))?.counts.inFlight).toBe(step === 'choose' ? 3 : 0)
  }
  expect((await receive(arn, 10)).bodies.sort()).toEqual(['a', 'a', 'b'])
})

test('the scripts of a queue without groups ask for none of their data', async () => {
  const arn = await aQueue()
  const { queues, redis } = fixture
  const watched = await watchCommands(redis)
  await send(arn, undefined, '1', '2', '3')
  const { handles } = await receive(arn, 3)
  await queues.changeVisibility(arn, [{ handle: handles[0] ?? '', seconds: 0 }])
  await queues.ack(arn, handles.slice(1))
  await queues.getWithCounts(arn)
  await queues.purge(arn)
  const commands = (await watched()).map(({ words }) => words.join(' '))
  expect(commands.filter((command) => /:ready\b/.test(command)).length).toBeGreaterThan(5)
  expect(commands.filter((command) => /:(heads|noisy|busy|g:)/.test(command))).toEqual([])
})
