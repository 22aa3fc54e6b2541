/** Random operations on topics and subscriptions. They are compared with a model, which is a map of records. */
import type { SubscriptionRecord, SubscriptionStatus } from '@fantail/contracts'
import { RANDOM_TIMEOUT_MS } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeOfSubscription, Snapshots, Subscriptions, Topics } from '../index.ts'
import { indexFaults, newSubscription, topicName } from './subscriptions.fixture.ts'

const SLICE_MAX = 2
const ARNS = [topicName('one'), topicName('two')]
/** A token that expires at 1 is always swept, and one in the far future never. */
const EXPIRED = 1
const AHEAD = 9e12

const { redis } = await useRedis()

type Step =
  | { do: 'create'; topic: number; endpoint: number; expires: number | null }
  | { do: 'status'; pick: number; status: SubscriptionStatus }
  | { do: 'throttle'; pick: number; rate: number | null }
  | { do: 'leave'; pick: number; expires: number }
  | { do: 'delete'; pick: number }
  | { do: 'expire' }
  | { do: 'putTopic' | 'deleteTopic'; topic: number }
  | { do: 'patchTopic'; topic: number; seconds: number }

const topic = fc.nat({ max: ARNS.length - 1 })
const pick = fc.nat({ max: 20 })
const expiry = fc.constantFrom(EXPIRED, AHEAD)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      topic,
      endpoint: fc.nat({ max: 7 }),
      expires: fc.option(expiry),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('status' as const),
      pick,
      status: fc.constantFrom<SubscriptionStatus>('active', 'paused'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('throttle' as const),
      pick,
      rate: fc.option(fc.integer({ min: 1, max: 9 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), pick, expires: expiry }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('putTopic' as const), topic }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteTopic' as const), topic }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('patchTopic' as const),
      topic,
      seconds: fc.integer({ min: 60, max: 99 }),
    }),
  },
)

class Model {
  readonly topics = new Map<string, number>()
  readonly records = new Map<string, SubscriptionRecord>()
  #tokens = 0
  readonly #real = {
    topics: new Topics(redis),
    subscriptions: new Subscriptions(redis, { sliceSubscriptionsMax: SLICE_MAX }),
  }

  /** Runs the step on the store and on the model, and compares the results. */
  async run(next: Step): Promise<void> {
    const { topics, subscriptions } = this.#real
    switch (next.do) {
      case 'create':
        return this.#create(next)
      case 'status':
        return this.#update(next.pick, (current) =>
          current.status === 'pending' ? {} : { status: next.status },
        )
      case 'throttle': {
        const throttlePolicy = next.rate === null ? null : { maxReceivesPerSecond: next.rate }
        return this.#update(next.pick, () => ({ deliveryPolicy: throttlePolicy && { throttlePolicy } }))
      }
      case 'leave': {
        const token = this.#newToken()
        return this.#update(next.pick, () => ({
          unsubscribed: true,
          token,
          tokenExpiresAt: next.expires,
        }))
      }
      case 'delete': {
        const id = this.#picked(next.pick)
        if (!id) return
        expect(await subscriptions.delete(id)).toBe(true)
        this.records.delete(id)
        return
      }
      case 'expire': {
        const awaited = [...this.records.values()].filter(
          (record) =>
            record.tokenExpiresAt === EXPIRED && (record.unsubscribed || record.status === 'pending'),
        )
        expect(await subscriptions.expirePending()).toBe(awaited.length)
        for (const { id } of awaited) this.records.delete(id)
        return
      }
      default:
        return this.#changeTopic(next, topics)
    }
  }

  async #changeTopic(
    next: Extract<Step, { topic: number }> & { do: 'putTopic' | 'deleteTopic' | 'patchTopic' | 'create' },
    topics: Topics,
  ): Promise<void> {
    const arn = ARNS[next.topic] ?? ''
    if (next.do === 'putTopic') {
      expect((await topics.put(arn, {})).created).toBe(!this.topics.has(arn))
      this.topics.set(arn, this.topics.get(arn) ?? 345_600)
    } else if (next.do === 'deleteTopic') {
      await topics.delete(arn)
      this.topics.delete(arn)
      for (const record of this.records.values()) if (record.topicArn === arn) this.records.delete(record.id)
    } else if (next.do === 'patchTopic' && this.topics.has(arn)) {
      await topics.patch(arn, { retentionSeconds: next.seconds })
      this.topics.set(arn, next.seconds)
    }
  }

  async #create(next: Extract<Step, { do: 'create' }>): Promise<void> {
    const arn = ARNS[next.topic] ?? ''
    const handshake = {
      confirmation: 'handshake' as const,
      token: this.#newToken(),
      tokenExpiresAt: next.expires ?? 0,
    }
    const input = newSubscription(arn, next.endpoint, next.expires === null ? {} : handshake)
    const creation = this.#real.subscriptions.create(input)
    if (!this.topics.has(arn)) return expect(creation).rejects.toMatchObject({ code: 'not_found' })
    const { subscription, created } = await creation
    const same = [...this.records.values()].find(
      (record) => record.topicArn === arn && record.endpoint === input.endpoint,
    )
    expect(created).toBe(same === undefined || same.unsubscribed)
    if (same && !same.unsubscribed) expect(subscription).toEqual(same)
    else if (same) this.records.delete(same.id)
    expect(subscription.status).toBe(
      same && !same.unsubscribed ? same.status : next.expires === null ? 'active' : 'pending',
    )
    this.records.set(subscription.id, subscription)
  }

  async #update(
    index: number,
    change: (current: SubscriptionRecord) => Partial<SubscriptionRecord>,
  ): Promise<void> {
    const id = this.#picked(index)
    const current = id && this.records.get(id)
    if (!current) return
    const record = { ...current, ...change(current) }
    expect(await this.#real.subscriptions.update(id, change)).toEqual(record)
    this.records.set(id, record)
  }

  #newToken(): string {
    this.#tokens += 1
    return `token ${this.#tokens}`
  }

  #picked(index: number): string | undefined {
    const ids = [...this.records.keys()]
    return ids[index % Math.max(ids.length, 1)]
  }

  /** Checks that everything in the store agrees with the model. */
  async check(): Promise<void> {
    const { topics, subscriptions } = this.#real
    const records = [...this.records.values()]
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
    const shown = records.filter((record) => !record.unsubscribed).sort(byId)
    const { items } = await subscriptions.list({ limit: 100 })
    expect([...items].sort(byId)).toEqual(shown)
    expect((await topics.list({ limit: 100 })).items.map(({ arn }) => arn)).toEqual(
      [...this.topics.keys()].sort(),
    )
    for (const arn of this.topics.keys()) {
      const count = (status: SubscriptionStatus) =>
        shown.filter((record) => record.topicArn === arn && record.status === status).length
      const wanted = { active: count('active'), pending: count('pending'), paused: count('paused') }
      const found = await topics.getWithCounts(arn)
      expect(found).toMatchObject({
        subscriptions: wanted,
        topic: { retentionSeconds: this.topics.get(arn) },
      })
    }
    for (const record of records) {
      expect(await subscriptions.get(record.id)).toEqual(record)
      expect(await subscriptions.locate(record.id)).toMatchObject({ topicArn: record.topicArn })
    }
    const snapshots = new Snapshots(redis)
    const slices = await Promise.all([...this.topics.keys()].map((arn) => snapshots.topicSlices(arn)))
    const refs = slices.flatMap((snapshot) => snapshot?.slices ?? [])
    const loaded = await Promise.all(refs.map((ref) => snapshots.slice(ref)))
    expect(loaded.flatMap((slice) => slice?.subscriptions ?? []).sort(byId)).toEqual(records.sort(byId))
    expect(new Set(records.map(({ id, bit }) => `${placeOfSubscription(id)?.sliceId} ${bit}`)).size).toBe(
      records.length,
    )
    expect(await indexFaults(redis, SLICE_MAX)).toEqual([])
  }
}

test('any sequence of operations leaves what a plain map would hold', {
  timeout: RANDOM_TIMEOUT_MS,
}, async () => {
  const steps = fc.array(step, { minLength: 5, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      await redis.flushall()
      const model = new Model()
      for (const arn of ARNS) await model.run({ do: 'putTopic', topic: ARNS.indexOf(arn) })
      for (const next of sequence) await model.run(next)
      await model.check()
    }),
    { numRuns: 60 },
  )
})
