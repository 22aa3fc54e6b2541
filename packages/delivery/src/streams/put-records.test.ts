import type { AttemptResult } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { putRecords } from './put-records.ts'
import type { StreamRecord, StreamSink } from './stream-sink.ts'

const record = (id: string, bytes = 1): StreamRecord => ({ id, data: Buffer.alloc(bytes), publishedAt: 0 })
const stored = (text: string): AttemptResult => ({ kind: 'response', statusCode: 200, durationMs: 1, text })

function sinkOf(results: (records: readonly StreamRecord[]) => AttemptResult[]) {
  const puts: string[][] = []
  const sink: StreamSink = {
    provider: 'test',
    credential: 'test',
    recordsMax: 3,
    bytesMax: 10,
    recordBytesMax: 8,
    lingerMs: 0,
    put: async (records) => {
      puts.push(records.map(({ id }) => id))
      return results(records)
    },
  }
  return { sink, puts }
}

test('[362][370] records go together in their order, and each has its own result', async () => {
  const failed = { kind: 'response', statusCode: 200, durationMs: 1, verdict: 'retry' } as const
  const { sink, puts } = sinkOf((records) => records.map(({ id }) => (id === 'b' ? failed : stored(id))))
  const results = await putRecords(
    sink,
    ['a', 'b', 'c'].map((id) => record(id)),
    40,
  )
  expect([puts, results]).toEqual([[['a', 'b', 'c']], [stored('a'), failed, stored('c')]])
})

test('a record that the sink cannot take fails for good, and the others go', async () => {
  const { sink, puts } = sinkOf((records) => records.map(({ id }) => stored(id)))
  const results = await putRecords(sink, [record('a'), record('large', 9), record('b')], 40)
  expect(results).toMatchObject([stored('a'), { error: 'invalid_record', permanent: true }, stored('b')])
  expect(puts).toEqual([['a', 'b']])
  expect(await putRecords(sink, [record('large', 9)], 40)).toMatchObject([{ error: 'invalid_record' }])
  expect(puts).toHaveLength(1)
})

test('a record without a result is put again', async () => {
  const { sink } = sinkOf(() => [stored('a')])
  expect(await putRecords(sink, [record('a'), record('b')], 40)).toMatchObject([
    stored('a'),
    { error: 'invalid_response', permanent: false },
  ])
})
