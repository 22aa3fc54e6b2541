import { createLogger } from '@fantail/runtime'
import type { SweepRequest, SweepResult } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createRetentionSweep } from './retention-sweep.ts'

const SHARDS = Array.from({ length: 48 }, (_, shard) => shard)
const NOTHING = { lanes: [], expired: [], cursor: null } as unknown as SweepResult
const CLAIMED = { ...NOTHING, lanes: [{}] } as unknown as SweepResult

/** One turn over all shards; each script answers as `answer` says. */
async function sweepAll(answer: (shard: number, request: SweepRequest) => Promise<SweepResult>) {
  const handedOn: number[] = []
  const writes: number[] = []
  let asked = 0
  let turns = 0
  const sweep = createRetentionSweep({
    lanes: {
      sweep: (shard, request) => {
        asked++
        return answer(shard, request)
      },
    },
    log: createLogger({ service: 'test', level: 'silent' }),
    handOn: async (shard, { lanes }) => {
      if (lanes.length > 0) handedOn.push(shard)
    },
    inOneWrite: (ask) => {
      const before = asked
      const result = ask()
      writes.push(asked - before)
      return result
    },
    shards: async () => SHARDS,
    isLeader: async () => turns++ === 0,
  })
  await sweep.start()
  return { sweep, handedOn, writes, asked: () => asked }
}

test('a sweep that finds nothing asks about several shards in one trip', async () => {
  const cursors = [null, 'due:0', 'turns:0', null]
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

test('what was claimed in one shard is handed on where another one does not answer', async () => {
  const { sweep, handedOn } = await sweepAll(async (shard) => {
    if (shard === 0) throw new Error('Connection is closed.')
    return CLAIMED
  })
  await waitFor(() => handedOn.length === 7)
  await sweep.stop()
  expect(handedOn).toEqual([1, 2, 3, 4, 5, 6, 7])
})
