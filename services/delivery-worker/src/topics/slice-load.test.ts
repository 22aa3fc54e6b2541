/**
 * Slices whose filters take long to compile, and the slices of a large topic. Other work must run between the steps of
 * compiling.
 */
import {
  createMessageId,
  MAX_IN_FLIGHT_DEFAULT,
  type SubscriptionRecord,
  type TopicRecord,
} from '@fantail/contracts'
import type { PackedSlice, SliceRef, Snapshots } from '@fantail/store'
import { expect, test } from 'vitest'
import { MessageContext } from '../messages/message-context.ts'
import { SliceFilters } from './slice-filters.ts'
import { SnapshotCache } from './snapshot-cache.ts'

const SUBSCRIPTIONS = 500
const CHOICES = 60
/** The slice takes 80 ms or more to compile, and a turn has 4 ms. */
const TURNS_MIN = 5
const ARN = 'arn:aws:sns:us-east-1:000000000000:t'
const REF: SliceRef = { sliceId: 'uid.0', shard: 0 }
const TOPIC = {
  arn: ARN,
  uid: 'uid',
  name: 't',
  displayName: '',
  deliveryPolicy: null,
  disableSubscriptionOverrides: false,
  retentionSeconds: 345_600,
  signing: 'none',
  createdAt: 0,
  attributes: {},
} as unknown as TopicRecord

/** All alternatives but one differ between subscriptions. */
function costlyPolicy(n: number) {
  const choices = Array.from({ length: CHOICES - 1 }, (_, i) => ({ a: ['x'], b: [{ prefix: `y${n}-${i}` }] }))
  return { $or: [...choices, { a: ['x'], b: ['last'] }] }
}

const records = Array.from({ length: SUBSCRIPTIONS }, (_, bit) => ({
  id: `s${bit}`,
  arn: `${ARN}:s${bit}`,
  topicArn: ARN,
  endpoint: `http://s${bit}.example/hook`,
  bit,
  protocol: 'http',
  status: 'active',
  unsubscribed: false,
  rawMessageDelivery: false,
  deliveryPolicy: null,
  redrivePolicy: null,
  maxInFlight: MAX_IN_FLIGHT_DEFAULT,
  attributes: {},
  filterPolicy: costlyPolicy(bit),
  filterPolicyScope: 'MessageBody',
})) as unknown as SubscriptionRecord[]

/** Snapshots of a Redis whose slices have these subscriptions. `loads` counts the slices that are read. */
function snapshotsOf(subscriptions: SubscriptionRecord[]) {
  const read = { loads: 0 }
  const snapshots = {
    sliceRevisions: async (refs: readonly SliceRef[]) => refs.map(() => '1'),
    packedSlice: async (ref: SliceRef): Promise<PackedSlice> => {
      read.loads++
      return { ...ref, revision: '1', topic: TOPIC, topicText: Buffer.from('{}'), records: [] }
    },
    *unpack({ records: _, topicText: __, ...slice }: PackedSlice) {
      yield 1
      return { ...slice, subscriptions }
    },
  } as unknown as Snapshots
  return { snapshots, read }
}

const fail = (_id: string, error: unknown) => expect.fail(String(error))

function contextOf(body: object): MessageContext {
  const message = JSON.stringify(body)
  return new MessageContext({ messageId: createMessageId(1), topicArn: ARN, publishedAt: 1, message })
}

test('the filters of a slice are compiled in steps, none of them more than a hundredth of all', () => {
  const steps: number[] = []
  const compiling = SliceFilters.inSteps({ sliceId: 'uid.0', revision: '1' }, records, fail)
  let next = compiling.next()
  for (; !next.done; next = compiling.next()) steps.push(next.value)
  expect(Math.max(...steps)).toBeLessThan(steps.reduce((sum, each) => sum + each, 0) / 100)
  expect(next.value?.match(contextOf({ a: 'x', b: 'last' }))).toHaveLength(SUBSCRIPTIONS)
})

test('the event loop turns while a slice of costly filters is loaded', async () => {
  const cache = new SnapshotCache(snapshotsOf(records).snapshots, fail)
  let isLoading = true
  const loaded = Promise.resolve(cache.slice(REF)).finally(() => {
    isLoading = false
  })
  let turns = 0
  for (; isLoading; turns++) await new Promise(setImmediate)
  expect((await loaded)?.subscriptions).toHaveLength(SUBSCRIPTIONS)
  expect(turns).toBeGreaterThan(TURNS_MIN)
})

test('a worker keeps all slices of a topic with 100,000 plain webhooks', async () => {
  const plain = records.map(({ filterPolicy: _, filterPolicyScope: __, ...record }) => {
    return { ...record, endpoint: record.endpoint.padEnd(120, '/') }
  })
  const { snapshots, read } = snapshotsOf(plain)
  const cache = new SnapshotCache(snapshots, fail)
  const slices = 100_000 / SUBSCRIPTIONS
  for (let message = 0; message < 2; message++)
    for (let n = 0; n < slices; n++) await cache.slice({ sliceId: `uid.${n}`, shard: 0 })
  expect(read.loads).toBe(slices)
})
