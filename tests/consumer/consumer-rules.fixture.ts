/** The rules that a consumer keeps on every kind of queue. */
import {
  type Consumer,
  type ConsumerCounts,
  consume,
  consumeBatch,
  HandlerAborted,
  redisAttemptCounts,
  redisIdempotency,
} from '@fantail/consumer'
import type { Redis } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { afterEach, describe, expect, test } from 'vitest'
import type { QueueMaker, TestQueue } from './consumed-queues.fixture.ts'

const running: Consumer[] = []
const track = (consumer: Consumer): Consumer => {
  consumer.on('failed', () => undefined)
  running.push(consumer)
  return consumer
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((consumer) => consumer.stop({ graceMs: 0 })))
})

const isEmpty = async (queue: TestQueue) => {
  const { visible, inFlight } = await queue.depth()
  return visible + inFlight === 0
}
const counted = (consumer: Consumer, expected: Partial<ConsumerCounts>) =>
  waitFor(
    () => {
      const stats = consumer.stats()
      return Object.entries(expected).every(([name, count]) => stats[name as keyof ConsumerCounts] === count)
    },
    { what: `the counts ${JSON.stringify(expected)}` },
  )
/** A promise with its resolver, which a handler can wait for. */
const gate = () => Promise.withResolvers<void>()

let made = 0
const queueName = (suffix = '') => `consumed-${made++}${suffix}`

/** `redis`: for claims and counts. */
export function describeConsumer(maker: QueueMaker, redis: () => Redis): void {
  const { waitSeconds = 20 } = maker
  describe(`on ${maker.wire}`, () => {
    test('each message is handled once and deleted, at most as many at a time as allowed', async () => {
      const queue = await maker.create(queueName())
      const sent = Array.from({ length: 25 }, (_, i) => `m${i}`)
      await Promise.all(sent.map((body) => queue.send(body)))
      const handled: string[] = []
      let now = 0
      let most = 0
      const consumer = track(
        consume(
          queue.source,
          async ({ body, receiveCount }) => {
            now++
            most = Math.max(most, now)
            await new Promise((resolve) => setImmediate(resolve))
            handled.push(`${body} ${receiveCount}`)
            now--
          },
          { concurrency: 4 },
        ),
      )
      await counted(consumer, { succeeded: sent.length })
      expect(handled.toSorted()).toEqual(sent.map((body) => `${body} 1`).toSorted())
      expect(most).toBeLessThanOrEqual(4)
      expect(await isEmpty(queue)).toBe(true)
    })

    test('a failed message comes again after its backoff, with the count of receives', async () => {
      const queue = await maker.create(queueName())
      await queue.send('fails twice')
      const seen: number[] = []
      const backoffs: number[] = []
      const consumer = track(
        consume(
          queue.source,
          ({ receiveCount }, { attempt }) => {
            expect(attempt).toBe(receiveCount)
            seen.push(receiveCount)
            if (receiveCount < 3) throw new Error('not yet')
          },
          {
            backoff: ({ receiveCount, error }) => {
              expect(String(error)).toContain('not yet')
              backoffs.push(receiveCount)
              return 0
            },
          },
        ),
      )
      await counted(consumer, { succeeded: 1, failed: 2 })
      expect(seen).toEqual([1, 2, 3])
      expect(backoffs).toEqual([1, 2])
      expect(await isEmpty(queue)).toBe(true)
    })

    test('the heartbeat keeps a message hidden while its handler runs', async () => {
      const queue = await maker.create(queueName())
      await queue.send('slow')
      const { promise, resolve } = gate()
      let begun = 0
      const work = async () => {
        begun++
        await promise
      }
      const slow = track(consume(queue.source, work, { visibilitySeconds: 1 }))
      // This consumer reads the same queue, and gets nothing.
      const other = track(consume(queue.source, work, { visibilitySeconds: 1 }))
      await waitFor(() => slow.stats().extended + other.stats().extended >= 4)
      expect(begun).toBe(1)
      resolve()
      await waitFor(() => slow.stats().succeeded + other.stats().succeeded === 1)
      expect(slow.stats().lost + other.stats().lost).toBe(0)
      expect(await isEmpty(queue)).toBe(true)
    })

    test('without a heartbeat the handler is told when its message may go to others', async () => {
      const queue = await maker.create(queueName())
      await queue.send('too slow')
      const reasons: unknown[] = []
      const consumer = track(
        consume(
          queue.source,
          ({ receiveCount }, { signal }) => {
            if (receiveCount > 1) return
            return new Promise<void>((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                reasons.push(signal.reason)
                reject(signal.reason)
              })
            })
          },
          { visibilitySeconds: 1, heartbeat: false },
        ),
      )
      const lost: string[] = []
      consumer.on('lost', (_message, reason) => void lost.push(reason))
      await counted(consumer, { succeeded: 1, lost: 1 })
      expect(lost).toEqual(['noHeartbeat'])
      expect(reasons).toEqual([expect.any(HandlerAborted)])
      expect(reasons).toMatchObject([{ because: 'lost' }])
    })

    test('a handler that takes too long fails, and its message comes again', async () => {
      const queue = await maker.create(queueName())
      await queue.send('hangs once')
      const errors: unknown[] = []
      const consumer = track(
        consume(
          queue.source,
          ({ receiveCount }) => (receiveCount === 1 ? new Promise<void>(() => undefined) : undefined),
          { handlerTimeoutSeconds: 0.05, backoff: () => 0 },
        ),
      )
      consumer.on('failed', (_message, error) => void errors.push(error))
      await counted(consumer, { succeeded: 1, failed: 1 })
      expect(errors).toMatchObject([{ because: 'timeout' }])
    })

    test('of a batch only the named messages come again', async () => {
      const queue = await maker.create(queueName())
      for (let i = 0; i < 6; i++) await queue.send(`${i}`)
      const calls: string[][] = []
      const consumer = track(
        consumeBatch(
          queue.source,
          (messages) => {
            calls.push(messages.map(({ body }) => body))
            const failed = messages.filter(({ body, receiveCount }) => body === '3' && receiveCount === 1)
            return { failed: failed.map(({ id }) => id) }
          },
          { concurrency: 1, backoff: () => 0 },
        ),
      )
      await counted(consumer, { succeeded: 6, failed: 1 })
      expect(calls.flat().toSorted()).toEqual(['0', '1', '2', '3', '3', '4', '5'])
      expect(await isEmpty(queue)).toBe(true)
    })

    test('a FIFO group is handled in order, one at a time, and nothing overtakes a failed message', async () => {
      const queue = await maker.create(queueName('.fifo'))
      for (let i = 0; i < 5; i++) for (const group of ['a', 'b']) await queue.send(`${group}${i}`, group)
      const done: Record<string, string[]> = { a: [], b: [] }
      const busy = new Set<string>()
      let failures = 0
      const consumer = track(
        consume(
          queue.source,
          async ({ body, groupId = '' }) => {
            expect(busy.has(groupId)).toBe(false)
            busy.add(groupId)
            await new Promise((resolve) => setImmediate(resolve))
            busy.delete(groupId)
            if (body === 'a1' && failures++ < 2) throw new Error('stays first')
            done[groupId]?.push(body)
          },
          { backoff: () => 0, waitSeconds },
        ),
      )
      await counted(consumer, { succeeded: 10, failed: 2 })
      expect(done).toEqual({ a: ['a0', 'a1', 'a2', 'a3', 'a4'], b: ['b0', 'b1', 'b2', 'b3', 'b4'] })
    })

    test('attempts count handlers, not receives of messages that were given back', async () => {
      const queue = await maker.create(queueName('.fifo'))
      const attempts = redisAttemptCounts(redis(), { ttlSeconds: 60, prefix: queue.source.name })
      await queue.send('first', 'a')
      await queue.send('second', 'a')
      const seen: string[] = []
      const consumer = track(
        consume(
          queue.source,
          ({ body }, { attempt }) => {
            seen.push(`${body} ${attempt}`)
            if (body === 'first' && attempt < 3) throw new Error('not yet')
          },
          { attempts, backoff: () => 0, waitSeconds },
        ),
      )
      await counted(consumer, { succeeded: 2, failed: 2 })
      expect(seen).toEqual(['first 1', 'first 2', 'first 3', 'second 1'])
      // A message that is done is forgotten.
      expect(await redis().keys(`${queue.source.name}*`)).toEqual([])
    })

    test('a stop lets handlers end, and gives back the messages of those that do not', async () => {
      const queue = await maker.create(queueName())
      await queue.send('ends')
      await queue.send('hangs')
      const { promise, resolve } = gate()
      let begun = 0
      const consumer = track(
        consume(queue.source, async ({ body }) => {
          begun++
          if (body === 'hangs') await new Promise(() => undefined)
          await promise
        }),
      )
      await waitFor(() => begun === 2)
      const stopped = consumer.stop({ graceMs: 300 })
      resolve()
      await stopped
      expect(consumer.stats()).toMatchObject({ succeeded: 1, failed: 0, inHand: 0 })
      // The message is visible at once, and not only after the visibility time of 30 seconds.
      expect(await queue.depth()).toMatchObject({ visible: 1, inFlight: 0 })
    })

    test('with idempotency a message that was done before is deleted, and not handled again', async () => {
      const queue = await maker.create(queueName())
      const idempotency = redisIdempotency(redis(), { ttlSeconds: 60, prefix: `${queue.source.name}:` })
      const handled: string[] = []
      const keyOf = ({ body }: { body: string }) => body
      await queue.send('once')
      const consumer = track(
        consume(queue.source, ({ body }) => void handled.push(body), { idempotency, keyOf }),
      )
      await counted(consumer, { succeeded: 1 })
      await queue.send('once')
      await queue.send('another')
      await counted(consumer, { succeeded: 2, repeated: 1 })
      expect(handled).toEqual(['once', 'another'])
      expect(await isEmpty(queue)).toBe(true)
    })

    test('a message that another consumer has claimed waits for the end of that claim', async () => {
      const queue = await maker.create(queueName())
      const idempotency = redisIdempotency(redis(), { ttlSeconds: 60, prefix: queue.source.name })
      await idempotency.claim('shared', 'a consumer that died', 1)
      const keyOf = () => 'shared'
      await queue.send('run again')
      const counts: number[] = []
      const consumer = track(
        consume(queue.source, ({ receiveCount }) => void counts.push(receiveCount), { idempotency, keyOf }),
      )
      await counted(consumer, { succeeded: 1 })
      expect(counts[0]).toBeGreaterThan(1)
    })

    test('poison moves a message to its queue, and only where the server does not', async () => {
      const queue = await maker.create(queueName())
      const graveyard = await maker.create(queueName())
      const options = { poison: { after: 2, to: graveyard.source.name }, backoff: () => 0 }
      const handler = () => {
        throw new Error('never works')
      }
      if (maker.hasRedrive) {
        expect(() => consume(queue.source, handler, options)).toThrow('maxReceiveCount')
        return
      }
      await queue.send('poison')
      const consumer = track(consume(queue.source, handler, options))
      await counted(consumer, { failed: 2, poisoned: 1 })
      await waitFor(() => isEmpty(queue))
      expect((await graveyard.depth()).visible).toBe(1)
    })

    test('a refused or broken receive is reported, and tried again', async () => {
      const queue = await maker.create(queueName())
      await queue.send('later')
      let failures = 2
      const source = {
        ...queue.source,
        receive: (...args: Parameters<typeof queue.source.receive>) => {
          if (failures-- > 0) throw new Error('the network is away')
          return queue.source.receive(...args)
        },
      }
      const problems: string[] = []
      const consumer = track(consume(source, () => undefined))
      consumer.on('problem', (error, action) => void problems.push(`${action}: ${(error as Error).message}`))
      await counted(consumer, { succeeded: 1 })
      expect(problems).toEqual(['receive: the network is away', 'receive: the network is away'])
    })
  })
}
