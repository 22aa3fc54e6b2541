/**
 * Measures the heap that compiled slices take, and compares it with the size that the snapshot cache assumes. Each is a
 * line of JSON. Run with --expose-gc. The argument is the number of subscriptions.
 */
import { randomUUID } from 'node:crypto'
import { topicArn } from '@fantail/contracts'
import { inOneGo } from '@fantail/policy'
import { SUBSCRIPTION, TOPIC } from '@fantail/store'
import { type CompiledSlice, compileSlice } from '../src/topics/compiled-slice.ts'
import { weightOf } from '../src/topics/slice-weight.ts'

const SNAPSHOTS = 3_000
const fanOut = Number(process.argv[2] ?? 10)
const SUBSCRIPTION_HEAD = {
  protocol: 'http' as const,
  status: 'active' as const,
  confirmation: 'none' as const,
  token: null,
  tokenExpiresAt: null,
  unsubscribed: false,
  createdAt: 0,
}

const before = usedBytes()
const snapshots = Array.from({ length: SNAPSHOTS }, (_, number) => snapshotOf(number))
const bytes = usedBytes() - before
const counted = snapshots.reduce((sum, snapshot) => sum + weightOf(snapshot), 0)
process.stdout.write(`${JSON.stringify({ bytes: bytes / SNAPSHOTS, counted: counted / SNAPSHOTS })}\n`)

function usedBytes(): number {
  if (!globalThis.gc) throw new Error('run it with --expose-gc')
  void globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function snapshotOf(number: number): CompiledSlice {
  const name = `orders-${number}`
  const topic = { ...TOPIC.initialSettings, arn: topicArn(name), name, uid: randomUUID(), createdAt: 0 }
  const records = Array.from({ length: fanOut }, (_, bit) => {
    const endpoint = `http://127.0.0.1:40000/hooks/customer-${number}/orders?source=${bit}`
    const id = randomUUID()
    return {
      ...SUBSCRIPTION.initialSettings,
      ...SUBSCRIPTION_HEAD,
      id,
      arn: `${topic.arn}:${id}`,
      topicArn: topic.arn,
      endpoint,
      bit,
      attributes: {},
    }
  })
  // A worker reads records from JSON. Their texts take less memory than texts that were put together.
  const subscriptions = JSON.parse(JSON.stringify(records)) as typeof records
  const slice = { sliceId: `${topic.uid}.0`, shard: 0, revision: randomUUID(), topic, subscriptions }
  const compiling = compileSlice(slice, (id) => {
    throw new Error(`${id} cannot be compiled`)
  })
  return inOneGo(compiling).value
}
