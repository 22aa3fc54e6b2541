import { createMessageId, parseMessageId } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import type { ClaimedLane, TakeResult } from '@fantail/store'
import { expect, test } from 'vitest'
import { AttemptSlots } from './attempt-slots.ts'
import { LaneClaims, type LaneClaimsOptions } from './lane-claims.ts'
import { MessageContext } from './message-context.ts'
import { ShardClocks } from './shard-clocks.ts'

const log = createLogger({ service: 'test', level: 'silent' })

/** Claims of which nothing is attempted, and what was settled: `<lease> <what>`. */
function createClaims(options: Partial<LaneClaimsOptions>) {
  const settled: string[] = []
  const claims = new LaneClaims({
    slots: new AttemptSlots({ attemptsMax: 10 }),
    plans: { slice: async () => null },
    bodies: { get: async (_, deliveries) => deliveries.map(() => context) },
    attempts: { begin: () => undefined, bury: () => undefined },
    pacing: { unsent: () => undefined },
    settling: {
      settle: async (_, { lease }, to) => {
        settled.push(`${lease} ${to.op}`)
        return { accepted: true, lease: null }
      },
    },
    recorder: { expired: () => undefined, ended: () => undefined },
    clocks: new ShardClocks(),
    log,
    onStarved: () => undefined,
    ...options,
  })
  return { claims, settled }
}

const messageId = createMessageId(1)
const context = new MessageContext({ messageId, topicArn: 'arn', publishedAt: 1, message: '' })

function laneOf(sliceId: string, ...leases: string[]): ClaimedLane {
  const delivery = parseMessageId(messageId) ?? Buffer.alloc(16)
  const claims = leases.map((lease) => ({ delivery, lease, sendAt: null, state: null }))
  return { subscriptionId: `of ${sliceId}`, sliceId, sliceRevision: '1', claims }
}

const taken = (...lanes: ClaimedLane[]): TakeResult => ({
  now: 1,
  nextDueAt: null,
  lanes,
  expired: [],
  drained: 0,
  logs: [],
})

test('claims whose bodies do not come are handed back, not left to their leases', async () => {
  const get = () => Promise.reject(new Error('Command timed out'))
  const { claims, settled } = createClaims({ bodies: { get } })
  await expect(claims.handOn(0, taken(laneOf('a', '1', '2'), laneOf('b', '3')), 0)).rejects.toThrow(
    'timed out',
  )
  expect(settled).toEqual(['1 return', '2 return', '3 return'])
})

test('where a plan does not come, its lane and those after it are handed back, and none before it', async () => {
  const slice = async ({ sliceId }: { sliceId: string }) => {
    if (sliceId === 'b') throw new Error('Command timed out')
    return null
  }
  const { claims, settled } = createClaims({ plans: { slice } })
  const lanes = [laneOf('a', '1'), laneOf('b', '2'), laneOf('c', '3')]
  await expect(claims.handOn(0, taken(...lanes), 0)).rejects.toThrow('timed out')
  expect(settled).toEqual(['2 return', '3 return'])
})
