/**
 * Writes records to a sink. If a record is larger than the sink allows, it fails permanently, and the other records are
 * written.
 */
import { failure } from '../http/attempt-failure.ts'
import type { PutResults, StreamRecord, StreamSink } from './stream-sink.ts'

/** Never rejects. */
export async function putRecords(
  sink: StreamSink,
  records: readonly StreamRecord[],
  timeoutMs: number,
): Promise<PutResults> {
  const { recordBytesMax } = sink
  const fitting = records.filter(({ data }) => data.length <= recordBytesMax)
  const results = fitting.length === 0 ? [] : await sink.put(fitting, timeoutMs)
  const resultOf = new Map(fitting.map((record, i) => [record, results[i]]))
  return records.map((record) => {
    const { length } = record.data
    const detail = `the record has ${length} bytes, and the stream takes ${recordBytesMax}`
    if (length > recordBytesMax) return failure('invalid_record', detail, 0, true)
    return resultOf.get(record) ?? failure('invalid_response', 'the sink has no result for the record', 0)
  })
}
