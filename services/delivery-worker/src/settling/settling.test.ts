import { createLogger } from '@fantail/runtime'
import type { Lanes, Settlement } from '@fantail/store'
import { expect, test } from 'vitest'
import { Settling } from './settling.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const claimed = (lease: string) => ({ subscriptionId: 'id', delivery: Buffer.alloc(16), lease })

/** `fails`: how many tries fail because Redis is unreachable. */
function createSettling(fails = 0) {
  const sent: string[][] = []
  const settle = async (_shard: number, settlements: Settlement[]) => {
    sent.push(settlements.map(({ lease }) => lease))
    if (sent.length <= fails) throw new Error('Connection is closed.')
    const accepted = settlements.map(() => true)
    return { accepted, leases: settlements.map(() => null), nextDueAt: null }
  }
  return { sent, settling: new Settling({ settle } as unknown as Lanes, log, () => undefined) }
}

const mark = (...holds: boolean[]) => ({
  key: 'key',
  at: 0,
  holds: () => (holds.length > 1 ? holds.shift() : holds[0]) ?? false,
})

test('a claim ends only while the copy exists because of which it ends', async () => {
  const { settling, sent } = createSettling()
  const deadLettered = { op: 'deadLettered' } as const
  const results = await Promise.all([
    settling.settle(0, claimed('exists'), deadLettered, { restsOn: mark(true) }),
    settling.settle(0, claimed('gone'), deadLettered, { restsOn: mark(false) }),
    settling.settle(0, claimed('needs none'), { op: 'delivered' }),
  ])
  expect(results.map(({ accepted }) => accepted)).toEqual([true, false, true])
  expect(sent).toEqual([['exists', 'needs none']])
})

test('a settlement that is tried again after an outage asks again whether the copy exists', async () => {
  const { settling, sent } = createSettling(1)
  const deadLettered = { op: 'deadLettered' } as const
  const restsOn = mark(true, true, false)
  expect(await settling.settle(0, claimed('lost'), deadLettered, { restsOn })).toMatchObject({
    accepted: false,
  })
  expect(sent).toEqual([['lost']])
})

test('a block is reported when Redis has it, so that a credential that was mended meanwhile releases the lane', async () => {
  const { settling, sent } = createSettling(1)
  const blocked: unknown[] = []
  settling.notifyBlocked((...lane) => blocked.push([...lane, sent.length]))
  await Promise.all([
    settling.settle(3, claimed('blocked'), {
      op: 'block',
      delayMs: 60_000,
      credential: 'smtp:mail.example:25',
    }),
    settling.settle(3, claimed('returned'), { op: 'returnToLane' }),
  ])
  expect(blocked).toEqual([[3, 'id', 'smtp:mail.example:25', 2]])
})
