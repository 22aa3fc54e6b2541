import { createMessageId, formatMessageId, parseMessageId } from '@fantail/contracts'
import { type EndpointTarget, renderBody } from '@fantail/delivery'
import { messageBody } from '@fantail/store'
import { expect, test } from 'vitest'
import { FreedCapacity } from '../capacity/freed-capacity.ts'
import { MessageContext } from '../messages/message-context.ts'
import { BodyBytes } from './body-bytes.ts'
import { LaneBodies, UnreadableBody } from './lane-bodies.ts'

const keyOf = (messageId: string) => (parseMessageId(messageId) ?? Buffer.alloc(16)).toString('latin1')
const bodyOf = (messageId: string, message: string) =>
  messageBody({ messageId, topicArn: 'arn', publishedAt: 1, message })

/** A store of bodies of `bytes` each that answers when the test says so. */
function createStore(bytes: number) {
  const open: (() => void)[] = []
  return {
    open,
    bodies: async (_shard: number, ids: Buffer[]) => {
      await new Promise<void>((resolve) => open.push(resolve))
      return ids.map((id) => {
        const messageId = createdIds.find((known) => parseMessageId(known)?.equals(id))
        return Buffer.from(bodyOf(messageId ?? '', 'x'.repeat(bytes)))
      })
    },
  }
}

const createdIds = Array.from({ length: 80 }, (_, i) => createMessageId(1_700_000_000_000 + i))
const deliveries = createdIds.map((id) => parseMessageId(id) ?? Buffer.alloc(16))

test('a body in memory is not missed when others push it out meanwhile', async () => {
  const store = createStore(262_144)
  const bodies = new LaneBodies(store)
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

test('loaded bodies are not fetched again if the others failed', async () => {
  const ids = Array.from({ length: 250 }, () => createMessageId(1_700_000_000_000))
  const asked: number[] = []
  const messages = async (_: number, of: Buffer[]) => {
    asked.push(of.length)
    if (asked.length === 2) throw new Error('Command timed out')
    return of.map((id) => Buffer.from(bodyOf(formatMessageId(id), '')))
  }
  const bodies = new LaneBodies({ bodies: messages })
  const all = ids.map((id) => parseMessageId(id) ?? Buffer.alloc(16))
  await expect(bodies.get(0, all)).rejects.toThrow('timed out')
  expect(await bodies.get(0, all)).toHaveLength(250)
  expect(asked).toEqual([100, 100, 50, 100])
})

test('a body in the place of another message’s cannot be used', () => {
  const [one = '', two = ''] = createdIds
  const bodies = new LaneBodies(createStore(0))
  expect(bodies.read(Buffer.from(bodyOf(one, 'x')), keyOf(one))).toBeInstanceOf(MessageContext)
  expect(bodies.read(Buffer.from(bodyOf(one, 'x')), keyOf(two))).toBeInstanceOf(UnreadableBody)
})

test('a cached body holds no more memory than it fills', () => {
  const bodies = new LaneBodies(createStore(0))
  const message = {
    messageId: createdIds[0] ?? '',
    topicArn: 'arn:aws:sns:us-east-1:000000000000:t',
    publishedAt: 1,
    message: 'é',
  }
  const context = bodies.read(Buffer.from(messageBody(message)), keyOf(message.messageId))
  if (!(context instanceof MessageContext)) throw new Error('it cannot be read')
  const envelope = context.envelopeFor(undefined)
  renderBody(envelope, { raw: false, protocol: 'http', subscriptionArn: 'arn' } as unknown as EndpointTarget)
  const document = envelope.texts.default?.document
  const buffers = [context.id, document?.before, document?.after]
  expect(buffers.map((bytes) => bytes?.buffer.byteLength)).toEqual(buffers.map((bytes) => bytes?.length))
  expect(JSON.parse(`${document?.before}arn${document?.after}`)).toMatchObject({ Message: 'é' })
})

test('bodies are loaded only while there is capacity, and few at a time', async () => {
  let [coming, most] = [0, 0]
  const messages = async (_: number, ids: Buffer[]) => {
    coming += ids.length
    most = Math.max(most, coming)
    await new Promise(setImmediate)
    coming -= ids.length
    return ids.map((id) => Buffer.from(bodyOf(formatMessageId(id), 'x'.repeat(1_000))))
  }
  const bodies = new LaneBodies({ bodies: messages })
  const bytes = new BodyBytes({ bytesMax: 1_000_000, freed: new FreedCapacity() })
  const many = Array.from({ length: 1_000 }, (_, i) => parseMessageId(createMessageId(i)) ?? Buffer.alloc(16))
  const takes = [0, 1, 2, 3].map((n) => bodies.get(n, many.slice(n * 250, n * 250 + 250), bytes.load()))
  const loaded = (await Promise.all(takes)).flat().filter((body) => body !== undefined)
  expect(most).toBe(200)
  // Each body has about 5 KB. There is capacity for 190, and some more are being loaded.
  expect(loaded.length).toBeGreaterThanOrEqual(190)
  expect(loaded.length).toBeLessThanOrEqual(400)
})
