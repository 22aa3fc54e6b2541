/**
 * Random histories of a FIFO queue and its dead-letter queue against a plain model. Time moves only between calls. It
 * never stops within a call's duration of a moment that decides something.
 */
import { randomUUID } from 'node:crypto'
import { RANDOM_TIMEOUT_MS, skewKey } from '@fantail/test-kit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shardBase, shardOf } from '../keys/shards.ts'
import { formatSequence } from './items/queue-items.ts'
import { newFifoArn, useQueues } from './queues.fixture.ts'
import { type FifoItem, FifoModel, RETENTION_S } from './queues-fifo-model.fixture.ts'

const ROUNDS_MAX = 10
const where = fc.constantFrom('source' as const, 'source' as const, 'dlq' as const)
const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('send' as const),
      entries: fc.array(
        fc.record({ group: fc.constantFrom('a', 'b', 'c'), dedup: fc.nat(60), id: fc.option(fc.nat(3)) }),
        { minLength: 1, maxLength: 6 },
      ),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      op: fc.constant('receive' as const),
      where,
      max: fc.integer({ min: 1, max: 10 }),
      timeout: fc.integer({ min: 1, max: 20 }),
      attempt: fc.option(fc.constantFrom('x', 'y')),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('ack' as const), handle: fc.nat(12) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('hide' as const),
      handle: fc.nat(12),
      timeout: fc.integer({ min: 0, max: 40 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('tick' as const),
      by: fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 1, max: 30 }) },
        { weight: 1, arbitrary: fc.integer({ min: -50, max: -2 }) },
        { weight: 1, arbitrary: fc.constant(310) },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('delay' as const), seconds: fc.constantFrom(0, 10, 30) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('scope' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('delete' as const), item: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('sweep' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('purge' as const) }) },
)
const operations = fc.array(operation, { minLength: 5, maxLength: 60, size: 'max' })
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never
type Of<K extends Operation['op']> = Extract<Operation, { op: K }>

const fixture = await useQueues()

test('[183][184] random histories of a FIFO queue agree with the model and leave no key behind', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 }), operations, async (receivesMax, operations) => {
      const history = new History(receivesMax)
      await history.begin()
      for (const each of operations) await history.perform(each)
      await history.end()
    }),
    { numRuns: 100 },
  )
})

class History {
  readonly source = newFifoArn('model')
  readonly dlq = newFifoArn('model-dlq')
  readonly model = { source: new FifoModel(), dlq: new FifoModel() }
  readonly handles: { where: 'source' | 'dlq'; item: FifoItem; handle: string }[] = []
  readonly ids = Array.from({ length: 4 }, () => randomUUID())
  readonly from = Date.now()
  readonly receivesMax: number
  now = 100

  constructor(receivesMax: number) {
    this.receivesMax = receivesMax
  }

  async begin(): Promise<void> {
    await fixture.redis.flushall()
    await this.#setTime()
    await fixture.queues.put(this.dlq, { retentionSeconds: RETENTION_S })
    const redrivePolicy = { deadLetterTargetArn: this.dlq, maxReceiveCount: this.receivesMax }
    await fixture.queues.put(this.source, { retentionSeconds: RETENTION_S, redrivePolicy })
  }

  async perform(each: Operation): Promise<void> {
    if (each.op === 'tick') this.now += each.by
    await this.#setTime()
    await this.#run(each)
    await this.#compare()
  }

  async end(): Promise<void> {
    await fixture.queues.delete(this.source)
    await fixture.queues.delete(this.dlq)
    expect(await fixture.keys()).toEqual([])
  }

  /** Sets Redis's time in both queues' shards to the model's. */
  async #setTime(): Promise<void> {
    const { source, dlq } = this.model
    for (const model of [source, dlq]) model.at(this.now, false)
    while (source.undecided() || dlq.undecided()) {
      this.now += 0.25
      for (const model of [source, dlq]) model.at(this.now, false)
    }
    const skew = Math.round(this.from + this.now * 1_000 - Date.now())
    const keys = [this.source, this.dlq].map((arn) => skewKey(shardBase(shardOf(arn))))
    await Promise.all(keys.map((key) => fixture.redis.set(key, skew)))
  }

  async #run(each: Operation): Promise<void> {
    const { source, dlq } = this.model
    switch (each.op) {
      case 'tick':
        return
      case 'send':
        return this.#send(each)
      case 'receive':
        return this.#receive(each)
      case 'ack':
      case 'hide':
        return this.#useHandle(each)
      case 'delay':
        source.delay = each.seconds
        await fixture.queues.patch(this.source, { delaySeconds: each.seconds })
        return this.#setTime()
      case 'scope':
        source.scope = source.scope === 'queue' ? 'messageGroup' : 'queue'
        await fixture.queues.patch(this.source, { deduplicationScope: source.scope })
        return
      case 'delete': {
        const item = source.items[each.item]
        if (!item) return
        source.at(this.now, true)
        expect(await fixture.queues.deleteMessage(this.source, item.id)).toBe(true)
        return source.remove(item)
      }
      case 'sweep':
        for (const model of [source, dlq]) {
          model.at(this.now, true)
          model.expire()
        }
        await fixture.queues.sweep()
        return
      case 'purge':
        source.at(this.now, true)
        source.purge()
        await fixture.queues.purge(this.source)
    }
  }

  async #send({ entries }: Of<'send'>): Promise<void> {
    this.model.source.at(this.now, true)
    const items = entries.map(({ group, dedup, id }) => ({
      body: 'b',
      groupId: group,
      ...(id === null ? { deduplicationId: `d${dedup}` } : { id: this.ids[id] ?? '' }),
    }))
    const sent = await fixture.queues.send(this.source, items)
    for (const [i, answer] of sent.entries()) {
      const { group = 'a', dedup, id = null } = entries[i] ?? {}
      const entry = { id: id === null ? answer.messageId : (this.ids[id] ?? ''), group, given: id !== null }
      const expected = this.model.source.send({ ...entry, dedup: id === null ? `d${dedup}` : null })
      expect(answer).toEqual({
        messageId: expected.id,
        ...(expected.sequence !== null && { sequenceNumber: formatSequence(String(expected.sequence)) }),
        ...(expected.duplicate && { duplicate: true }),
      })
    }
  }

  async #receive({ where, max, timeout, attempt }: Of<'receive'>): Promise<void> {
    const model = this.model[where]
    model.at(this.now, true)
    const request = {
      maxMessages: max,
      visibilityTimeoutSeconds: timeout,
      ...(attempt !== null && { attemptId: attempt }),
    }
    const repeated = attempt === null ? 'new' : model.repeat(attempt, timeout)
    const receiving = fixture.queues.receive(this[where], request)
    if (repeated === 'changed') {
      return expect(receiving).rejects.toMatchObject({ name: 'AttemptChangedError' })
    }
    const received = await receiving
    const handles = received.map(({ receiptHandle = '' }) => receiptHandle)
    if (repeated !== 'new') {
      expect(received.map((m) => m.messageId)).toEqual(repeated.map(({ id }) => id))
      expect(handles).toEqual(repeated.map(({ handle }) => handle))
      return
    }
    model.expire()
    const ids = received.map((m) => m.messageId)
    const items = this.#check(where, ids, max)
    for (const [i, item] of items.entries()) {
      const handle = handles[i] ?? ''
      model.received(item, { timeout, handle })
      expect(received[i]?.receiveCount).toBe(item.count)
      this.handles.push({ where, item, handle })
    }
    if (attempt !== null) model.note(attempt, items)
    await this.#move(where)
  }

  /**
   * Checks a receive: the first available messages of each group, in order, as many as possible, one group after the
   * other.
   */
  #check(where: 'source' | 'dlq', ids: string[], max: number): FifoItem[] {
    const limit = where === 'source' ? this.receivesMax : Number.POSITIVE_INFINITY
    const groups = this.model[where].receivable()
    const allowed = groups.map((items) => items.filter(({ count }) => count < limit))
    const exhausted = groups.flat().filter(({ count }) => count >= limit)
    for (const items of allowed) {
      const came = ids.filter((id) => items.some((item) => item.id === id))
      expect(came).toEqual(items.slice(0, came.length).map(({ id }) => id))
    }
    const items = ids.flatMap((id) => allowed.flat().filter((item) => item.id === id))
    expect(items.length).toBe(ids.length)
    const sure = groups.flatMap((group) => firstRun(group, (item) => item.count < limit))
    if (exhausted.length < ROUNDS_MAX) expect(ids.length).toBeGreaterThanOrEqual(Math.min(max, sure.length))
    if (exhausted.length === 0) {
      const runs = items.filter((item, i) => item.group !== items[i - 1]?.group)
      expect(runs.length).toBe(new Set(runs.map(({ group }) => group)).size)
    }
    this.#mayMove = where === 'source' ? exhausted : []
    this.#allMove = ids.length < max && exhausted.length < ROUNDS_MAX && sure.length === allowed.flat().length
    return items
  }

  #mayMove: FifoItem[] = []
  #allMove = false

  /** A message that left the source was received too often. It must now be at the end of the dead-letter queue. */
  async #move(where: 'source' | 'dlq'): Promise<void> {
    if (where === 'dlq' || this.#mayMove.length === 0) return
    const { source, dlq } = this.model
    const left = new Set((await this.#peek('source')).map(({ messageId }) => messageId))
    const moved = this.#mayMove.filter(({ id }) => !left.has(id))
    if (this.#allMove) expect(moved).toEqual(this.#mayMove)
    if (moved.length > 0) dlq.at(this.now, true)
    for (const item of moved) source.remove(item)
    const arrived = (await this.#peek('dlq')).map(({ messageId }) => messageId)
    const place = (item: FifoItem) => arrived.indexOf(item.id)
    for (const item of moved.toSorted((a, b) => place(a) - place(b))) dlq.take(item)
  }

  async #useHandle(each: Of<'ack' | 'hide'>): Promise<void> {
    const chosen = this.handles.at(-1 - (each.handle % this.handles.length))
    if (!chosen) return
    const { where, item, handle } = chosen
    const model = this.model[where]
    model.at(this.now, true)
    const there = model.items.some(({ id }) => id === item.id)
    const current = model.items.includes(item) && item.handle === handle && model.inFlight(item)
    if (each.op === 'ack') {
      const refused = { ok: false, error: 'expired_receipt_handle' }
      const expected = current || !there ? { ok: true } : refused
      expect(await fixture.queues.ack(this[where], [handle])).toEqual([expected])
      if (current) model.remove(item)
      return
    }
    const error = there ? 'expired_receipt_handle' : 'message_not_available'
    const change = { handle, seconds: each.timeout }
    const expected = current ? { ok: true } : { ok: false, error }
    expect(await fixture.queues.changeVisibility(this[where], [change])).toEqual([expected])
    if (current) model.hide(item, each.timeout)
  }

  async #peek(where: 'source' | 'dlq') {
    return (await fixture.queues.peek(this[where], { limit: 1_000 })).items
  }

  async #compare(): Promise<void> {
    for (const where of ['source', 'dlq'] as const) {
      const model = this.model[where]
      model.at(this.now, false)
      model.expire()
      expect((await fixture.queues.getWithCounts(this[where]))?.counts, where).toEqual(model.counts())
      const shown = (await this.#peek(where)).map((m) => [m.messageId, m.sequenceNumber])
      expect(shown, where).toEqual(
        model.items.map(({ id, sequence }) => [id, formatSequence(String(sequence))]),
      )
    }
  }
}

/** The first run of items that pass. Items behind a moving message wait for those before it. */
function firstRun<T>(items: T[], passes: (item: T) => boolean): T[] {
  const from = items.findIndex(passes)
  if (from < 0) return []
  const length = items.slice(from).findIndex((item) => !passes(item))
  return items.slice(from, length < 0 ? undefined : from + length)
}
