import { createMessageId } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import { type SweepRequest, type SweepResult, shardBase, shardOf, shardsInUse } from '@fantail/store'
import { freshKey, waitFor } from '@fantail/test-kit'
import { describe, expect, test } from 'vitest'
import { createFakeSender, type Fixture, TOPIC, useFixture } from '../fixtures/worker.fixture.ts'
import { createRetentionSweep } from './retention-sweep.ts'

const SHARDS = Array.from({ length: 48 }, (_, shard) => shard)
const NOTHING = { lanes: [], expired: [], cursor: null } as unknown as SweepResult
const CLAIMED = { ...NOTHING, lanes: [{}] } as unknown as SweepResult

/** Sweeps all shards once. Each script's reply comes from `answer`. */
async function sweepAll(answer: (shard: number, request: SweepRequest) => Promise<SweepResult>) {
  const handedOn: number[] = []
  const reported: unknown[] = []
  const writes: number[] = []
  let asked = 0
  let roleRequests = 0
  const sweep = createRetentionSweep({
    lanes: {
      sweep: (shard, request) => {
        asked++
        return answer(shard, request)
      },
    },
    log: createLogger({ service: 'test', level: 'silent' }),
    clocks: { report: (shard, now) => reported.push([shard, now, { handedOn: handedOn.length }]) },
    beginClaims: async (shard, { lanes }) => {
      if (lanes.length > 0) handedOn.push(shard)
    },
    inOneWrite: (ask) => {
      const before = asked
      const result = ask()
      writes.push(asked - before)
      return result
    },
    shards: async () => SHARDS,
    isLeader: async () => roleRequests++ === 0,
  })
  await sweep.start()
  return { sweep, handedOn, reported, writes, asked: () => asked }
}

test('a sweep that finds nothing asks about several shards in one trip', async () => {
  const cursors = [null, 'due:0', 'unproven:0', null]
  const { sweep, writes, asked } = await sweepAll(async (_shard, { cursor }) => ({
    ...NOTHING,
    cursor: cursors[cursors.indexOf(cursor) + 1] ?? null,
  }))
  await waitFor(() => asked() === 48 * 3)
  await sweep.stop()
  expect(writes).toEqual(Array.from({ length: 18 }, () => 8))
})

test('a shard in which something was claimed is swept again, by itself', async () => {
  const claims = new Map([
    [3, 2],
    [40, 1],
  ])
  const { sweep, handedOn, writes, asked } = await sweepAll(async (shard) => {
    const left = claims.get(shard) ?? 0
    claims.set(shard, left - 1)
    return left > 0 ? CLAIMED : NOTHING
  })
  await waitFor(() => asked() === 48 + 3)
  await sweep.stop()
  expect(handedOn).toEqual([3, 3, 40])
  expect(writes).toEqual([8, 1, 1, 8, 8, 8, 8, 8, 1])
})

test('claims of the other shards are handed on if one shard does not answer', async () => {
  const claimed = new Set<number>()
  const { sweep, handedOn } = await sweepAll(async (shard) => {
    if (shard === 0) throw new Error('Connection is closed.')
    if (claimed.has(shard)) return NOTHING
    claimed.add(shard)
    return CLAIMED
  })
  await waitFor(() => handedOn.length === 47)
  await sweep.stop()
  expect(handedOn).toEqual(SHARDS.slice(1))
})

test("the worker's clock knows the time of a sweep before its claims are handed on", async () => {
  let left = 1
  const { sweep, handedOn, reported } = await sweepAll(async (shard) => ({
    ...(shard === 5 && left-- > 0 ? CLAIMED : NOTHING),
    now: 1_700_000_000_000 + shard,
  }))
  await waitFor(() => handedOn.length > 0)
  await sweep.stop()
  expect(reported).toContainEqual([5, 1_700_000_000_005, { handedOn: 0 }])
})

describe('on a real Redis', async () => {
  const fixture = await useFixture()

  test('shards whose keys are broken keep no other shard from being swept', async () => {
    const topicArn = Array.from({ length: 99 }, (_, n) => `${TOPIC}-${n}`).find((arn) => shardOf(arn) >= 10)
    if (!topicArn) throw new Error('some topic is in a later shard')
    await fixture.topics.put(topicArn, { retentionSeconds: 60 })
    const { id } = await fixture.subscribe('paused', { topicArn })
    await fixture.subscriptions.update(id, () => ({ status: 'paused', pausedBecause: 'gone' }))
    const worker = await fixture.startWorker(createFakeSender())
    await fixture.publish('old', { topicArn, messageId: createMessageId(Date.now() - 120_000) })
    const waiting = freshKey(shardBase(shardOf(topicArn)), id)
    await waitFor(async () => (await fixture.redis.zcard(waiting)) === 1)
    await worker.stop()
    await Promise.all(
      SHARDS.slice(0, 10).map((shard) => fixture.redis.set(`${shardBase(shard)}paused`, 'broken')),
    )
    const { sweep, lines } = startSweep(fixture)
    await waitFor(async () => (await fixture.redis.zcard(waiting)) === 0)
    await sweep.stop()
    expect(await fixture.counts.read()).toEqual({ expired: 1 })
    expect(lines).toEqual(['retention_sweep_shards.down'])
  })
})

function startSweep({ redis, lanes }: Fixture) {
  const lines: string[] = []
  const sweep = createRetentionSweep({
    lanes,
    log: createLogger({
      service: 'test',
      level: 'info',
      destination: { write: (line) => lines.push(JSON.parse(line).msg) },
    }),
    clocks: { report: () => undefined },
    beginClaims: async () => undefined,
    inOneWrite: (ask) => ask(),
    shards: () => shardsInUse(redis),
    isLeader: async () => true,
  })
  void sweep.start()
  return { sweep, lines }
}
