import type { AttemptResult } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { RecordBatches } from './record-batches.ts'
import type { StreamRecord, StreamSink } from './stream-sink.ts'

const record = (id: string, bytes = 1): StreamRecord => ({ id, data: Buffer.alloc(bytes), publishedAt: 0 })
const stored = (text: string): AttemptResult => ({ kind: 'response', statusCode: 200, durationMs: 1, text })

function batchesOf(bounds: Partial<StreamSink> = {}, put?: StreamSink['put']) {
  const puts: string[][] = []
  const sink: StreamSink = {
    credential: 'test',
    recordsMax: 3,
    bytesMax: 10,
    recordBytesMax: 8,
    put: async (records, timeoutMs) => {
      puts.push(records.map(({ id }) => id))
      return put ? put(records, timeoutMs) : records.map(({ id }) => stored(id))
    },
    ...bounds,
  }
  const batches = new RecordBatches({ sink, timeoutMs: 40 })
  const add = (given: StreamRecord) =>
    new Promise<AttemptResult>((resolve) => batches.add(given, { done: resolve }))
  return { add, puts }
}

test('[361][370] records go together, in their order, up to the bounds of records and bytes', async () => {
  const { add, puts } = batchesOf()
  const sizes = { a: 1, b: 1, c: 1, d: 6, e: 5, f: 1 }
  const results = await Promise.all(Object.entries(sizes).map(([id, bytes]) => add(record(id, bytes))))
  expect(puts).toEqual([['a', 'b', 'c'], ['d'], ['e', 'f']])
  expect(results).toEqual(Object.keys(sizes).map(stored))
})

test('[362] each record has its own result', async () => {
  const failed = { kind: 'response', statusCode: 200, durationMs: 1, verdict: 'retry' } as const
  const { add } = batchesOf({}, async (records) =>
    records.map(({ id }) => (id === 'b' ? failed : stored(id))),
  )
  const results = await Promise.all(['a', 'b', 'c'].map((id) => add(record(id))))
  expect(results).toEqual([stored('a'), failed, stored('c')])
})

test('a record that no batch can hold fails for good, and the others go', async () => {
  const { add, puts } = batchesOf()
  const [large, small] = await Promise.all([add(record('large', 9)), add(record('small'))])
  expect(large).toMatchObject({ error: 'invalid_record', permanent: true })
  expect([small, puts]).toEqual([stored('small'), [['small']]])
})

test('[367] a batch that is not full goes after a moment, with the time that is left of the attempt', async () => {
  const times: number[] = []
  const { add } = batchesOf({}, async (records, timeoutMs) => {
    times.push(timeoutMs)
    return records.map(({ id }) => stored(id))
  })
  await add(record('a'))
  expect(times).toEqual([30])
})
