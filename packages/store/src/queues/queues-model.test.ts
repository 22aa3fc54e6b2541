/**
 * Random histories of a queue and its dead-letter queue against a plain model of arrays and a clock. The model's times
 * are nearly whole seconds and timeouts end at halves, so the few ms of a call change nothing. The model does not know
 * the order of messages. It checks that each received message was allowed to come, and that none is missing. Some
 * messages have a group, and the places of groups are checked.
 */
import { randomUUID } from 'node:crypto'
import { RANDOM_TIMEOUT_MS, skewKey } from '@fantail/test-kit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shardBase, shardOf } from '../keys/shards.ts'
import { aDeadLetter, newArn, useQueues } from './queues.fixture.ts'
import { checkGroups, ModelClock } from './queues-model.fixture.ts'

const RETENTION_S = 100.5
const RECENT_S = 600
const RECEIVES_MAX = 3

interface Item {
  id: string
  given: boolean
  /** A redrive policy brought it. */
  brought: boolean
  dead: boolean
  /** By the queue's clock, in seconds. */
  keptFrom: number
  visibleAt: number
  flying: boolean
  count: number
  handle: string
  /** Handles of all receives since the message came to its present queue. */
  handles: Set<string>
  receivedAt: number
}

class Model extends ModelClock {
  items = new Map<string, Item>()
  recent = new Map<string, number>()
  left = { acked: 0, expired: 0, purged: 0, deleted: 0, moved: 0 }
  entered = 0

  expire(): void {
    for (const item of this.items.values()) {
      if (item.keptFrom <= this.clock - RETENTION_S) this.remove(item.id, 'expired')
    }
  }

  add(item: Item): void {
    const left = this.recent.get(recentName(item))
    if (this.items.has(item.id) || (left !== undefined && left > this.clock - RECENT_S)) return
    this.items.set(item.id, item)
    this.entered += 1
  }

  remove(id: string, why: keyof Model['left']): void {
    const item = this.items.get(id)
    if (!item) return
    this.items.delete(id)
    this.left[why] += 1
    if (item.given && !(why === 'moved' && item.brought)) this.recent.set(recentName(item), this.clock)
  }

  visible(): Item[] {
    return [...this.items.values()].filter((item) => item.visibleAt <= this.clock)
  }

  counts() {
    const hidden = [...this.items.values()].filter((item) => item.visibleAt > this.clock)
    const inFlight = hidden.filter((item) => item.flying).length
    return { visible: this.visible().length, inFlight, delayed: hidden.length - inFlight }
  }
}

function recentName({ id, brought }: Item): string {
  return brought ? `${id}>` : id
}

const seconds = fc.integer({ min: 0, max: 40 }).map((n) => n + 0.5)
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('send' as const),
      n: fc.integer({ min: 1, max: 5 }),
      delay: fc.option(seconds),
      id: fc.nat(5),
      group: fc.option(fc.constantFrom('a', 'b', 'c')),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('deadLetter' as const), id: fc.nat(5) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('receive' as const),
      max: fc.integer({ min: 1, max: 10 }),
      timeout: seconds,
      dlq: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant('ack' as const), handle: fc.nat(60), newestOnly: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('hide' as const),
      handle: fc.nat(60),
      newestOnly: fc.boolean(),
      timeout: fc.oneof(seconds, fc.constant(0)),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('tick' as const),
      by: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: -50, max: -2 }), fc.constant(650.13)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('delete' as const), item: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('sweep' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('purge' as const) }) },
)
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

const fixture = await useQueues()

test('random histories agree with the model, balance, and leave no key behind', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 5, maxLength: 50, size: 'max' }),
      async (operations) => {
        const history = new History()
        await history.begin()
        for (const each of operations) await history.perform(each)
        await history.end()
      },
    ),
    { numRuns: 80 },
  )
})

class History {
  readonly source = newArn('model')
  readonly dlq = newArn('model-dlq')
  readonly model = { source: new Model(), dlq: new Model() }
  readonly handles: { where: 'source' | 'dlq'; id: string; handle: string }[] = []
  readonly ids = Array.from({ length: 6 }, () => randomUUID())
  readonly from = Date.now()
  now = 100

  async begin(): Promise<void> {
    await fixture.redis.flushall()
    await this.pinTime()
    await fixture.queues.put(this.dlq, { retentionSeconds: RETENTION_S })
    const redrivePolicy = { deadLetterTargetArn: this.dlq, maxReceiveCount: RECEIVES_MAX }
    await fixture.queues.put(this.source, { retentionSeconds: RETENTION_S, redrivePolicy })
  }

  /** Sets Redis's time in both queues' shards to the model's. */
  async pinTime(): Promise<void> {
    const skew = Math.round(this.from + this.now * 1_000 - Date.now())
    await Promise.all(
      [this.source, this.dlq].map((arn) => fixture.redis.set(skewKey(shardBase(shardOf(arn))), skew)),
    )
  }

  async perform(each: Operation): Promise<void> {
    if (each.op === 'tick') this.now += each.by
    await this.pinTime()
    if (each.op !== 'tick') await this.#run(each)
    await this.#compare()
  }

  async #run(each: Exclude<Operation, { op: 'tick' }>): Promise<void> {
    const { source, dlq } = this.model
    const { queues } = fixture
    switch (each.op) {
      case 'send': {
        source.at(this.now, true)
        const id = this.ids[each.id]
        const items = Array.from({ length: each.n }, (_, i) => ({
          body: 'b',
          ...(i === 0 && id ? { id } : {}),
          delaySeconds: each.delay ?? 0,
          ...(each.group !== null && i !== 1 && { groupId: each.group }),
        }))
        const sent = await queues.send(this.source, items)
        for (const [i, { messageId }] of sent.entries())
          source.add(this.#item(source, messageId, { given: i === 0, delay: each.delay ?? 0 }))
        return
      }
      case 'deadLetter': {
        dlq.at(this.now, true)
        const id = this.ids[each.id] ?? ''
        const deadLetter = aDeadLetter({ deadLetteredAt: this.from + (this.now - 20) * 1_000 })
        await queues.send(this.dlq, [{ id, body: 'b', deadLetter }])
        dlq.add({
          ...this.#item(dlq, id, { given: true, dead: true }),
          keptFrom: dlq.clock - (dlq.now - (this.now - 20)),
        })
        return
      }
      case 'receive':
        return this.#receive(each.dlq ? 'dlq' : 'source', each.max, each.timeout)
      case 'ack':
      case 'hide':
        return this.#useHandle(each)
      case 'delete': {
        const item = [...source.items.values()][each.item]
        if (!item) return
        source.at(this.now, true)
        expect(await queues.deleteMessage(this.source, item.id)).toBe(true)
        source.remove(item.id, 'deleted')
        return
      }
      case 'sweep':
        for (const model of [source, dlq]) {
          model.at(this.now, true)
          model.expire()
        }
        await queues.sweep()
        return
      case 'purge':
        source.at(this.now, true)
        await queues.purge(this.source)
        for (const id of [...source.items.keys()]) source.remove(id, 'purged')
    }
  }

  #item(model: Model, id: string, set: { given: boolean; dead?: boolean; delay?: number }): Item {
    return {
      id,
      given: set.given,
      brought: false,
      dead: set.dead ?? false,
      keptFrom: model.clock,
      visibleAt: model.clock + (set.delay ?? 0),
      flying: false,
      count: 0,
      handle: '',
      handles: new Set(),
      receivedAt: 0,
    }
  }

  async #receive(where: 'source' | 'dlq', max: number, timeout: number): Promise<void> {
    const model = this.model[where]
    model.at(this.now, true)
    model.expire()
    const limit = where === 'source' ? RECEIVES_MAX : Number.POSITIVE_INFINITY
    const allowed = model.visible().filter((item) => item.count < limit)
    const exhausted = model.visible().filter((item) => item.count >= limit)
    const received = await fixture.queues.receive(this[where], {
      maxMessages: max,
      visibilityTimeoutSeconds: timeout,
    })
    expect(received.length).toBe(Math.min(max, allowed.length))
    for (const { messageId, receiptHandle = '', receiveCount } of received) {
      const item = allowed.find(({ id }) => id === messageId)
      if (!item) throw new Error(`${messageId} was not to be received`)
      Object.assign(item, {
        count: item.count + 1,
        handle: receiptHandle,
        receivedAt: model.clock,
        visibleAt: model.clock + timeout,
        flying: true,
      })
      item.handles.add(receiptHandle)
      expect(receiveCount).toBe(item.count)
      this.handles.push({ where, id: messageId, handle: receiptHandle })
    }
    await this.#moved(exhausted, received.length < max)
  }

  /** Messages that a receive found exhausted must have moved. If the receive read everything, all of them must have. */
  async #moved(exhausted: Item[], all: boolean): Promise<void> {
    const { source, dlq } = this.model
    const before = new Set(
      (await fixture.queues.peek(this.source, { limit: 1_000 })).items.map((m) => m.messageId),
    )
    const gone = exhausted.filter(({ id }) => !before.has(id))
    if (all) expect(gone.length).toBe(exhausted.length)
    if (gone.length > 0) dlq.at(this.now, true)
    for (const item of gone) {
      source.remove(item.id, 'moved')
      const sentAt = Math.min(item.keptFrom - source.offset, this.now)
      dlq.add({
        ...item,
        given: true,
        brought: true,
        keptFrom: sentAt + dlq.offset,
        visibleAt: dlq.clock,
        flying: false,
        handle: '',
        handles: new Set(),
      })
    }
  }

  async #useHandle(each: Extract<Operation, { op: 'ack' | 'hide' }>): Promise<void> {
    const chosen = this.handles[each.handle]
    if (!chosen) return
    const model = this.model[chosen.where]
    model.at(this.now, true)
    const item = model.items.get(chosen.id)
    const newest = item?.handle === chosen.handle
    const earlier = !each.newestOnly && item?.handles.has(chosen.handle)
    const rule = { newestOnly: each.newestOnly }
    if (each.op === 'ack') {
      expect(await fixture.queues.ack(this[chosen.where], [chosen.handle], rule)).toEqual([{ ok: true }])
      if (item && (newest || earlier)) model.remove(item.id, 'acked')
      return
    }
    const inFlight = item?.flying && item.visibleAt > model.clock
    const current = inFlight && (newest || earlier) ? item : undefined
    const changes = [{ handle: chosen.handle, seconds: each.timeout }]
    const [result] = await fixture.queues.changeVisibility(this[chosen.where], changes, rule)
    expect(result).toEqual(current ? { ok: true } : { ok: false, error: 'message_not_available' })
    if (current) Object.assign(current, { visibleAt: model.clock + each.timeout, flying: true })
  }

  async #compare(): Promise<void> {
    for (const where of ['source', 'dlq'] as const) {
      const model = this.model[where]
      model.at(this.now, false)
      model.expire()
      const read = await fixture.queues.getWithCounts(this[where])
      expect(read?.counts, where).toEqual(model.counts())
    }
    await checkGroups(fixture.redis, this.source)
    const dead = [...this.model.dlq.items.values()].filter((item) => item.dead).length
    const counts = await fixture.queues.deadLetterCounts(this.dlq)
    expect(counts.byReason.permanent ?? 0).toBe(dead)
  }

  async end(): Promise<void> {
    for (const where of ['source', 'dlq'] as const) {
      const { entered, items, left } = this.model[where]
      const present = (await fixture.queues.peek(this[where], { limit: 1_000 })).items.map((m) => m.messageId)
      expect(present.sort()).toEqual([...items.keys()].sort())
      await checkGroups(fixture.redis, this[where])
      expect(entered).toBe(items.size + Object.values(left).reduce((sum, n) => sum + n, 0))
      await fixture.queues.delete(this[where])
    }
    expect(await fixture.keys()).toEqual([])
  }
}
