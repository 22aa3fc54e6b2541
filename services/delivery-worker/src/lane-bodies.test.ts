import { createMessageId, parseMessageId } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { LaneBodies } from './lane-bodies.ts'
import { MessageContext } from './message-context.ts'

/** A store of bodies of `bytes` each that answers when it is told to. */
function createStore(bytes: number) {
  const open: (() => void)[] = []
  return {
    open,
    messages: async (_shard: number, ids: Buffer[]) => {
      await new Promise<void>((resolve) => open.push(resolve))
      return ids.map((id) => {
        const messageId = createdIds.find((known) => parseMessageId(known)?.equals(id))
        return Buffer.from(JSON.stringify({ messageId, message: 'x'.repeat(bytes) }))
      })
    },
  }
}

const createdIds = Array.from({ length: 80 }, (_, i) => createMessageId(1_700_000_000_000 + i))
const deliveries = createdIds.map((id) => parseMessageId(id) ?? Buffer.alloc(16))

test('a body that was at hand is not missed when others push it out meanwhile', async () => {
  const store = createStore(262_144)
  const bodies = new LaneBodies(store, undefined)
  const get = async (from: number, to: number) => {
    const answer = bodies.get(0, deliveries.slice(from, to))
    return () => {
      store.open.shift()?.()
      return answer
    }
  }
  await (await get(0, 1))()
  const partlyKnown = await get(0, 2)
  const crowd = await get(2, 80)
  store.open.reverse()
  expect(await crowd()).toHaveLength(78)
  expect((await partlyKnown()).map((body) => body instanceof MessageContext)).toEqual([true, true])
})
