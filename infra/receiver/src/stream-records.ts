/** The receiver as Firehose: it accepts every record of a request, and shows the texts. */
import { randomUUID } from 'node:crypto'
import { isObject, objectOf } from '@fantail/contracts'

const TARGET = 'Firehose_20150804.PutRecordBatch'

interface TakenRecords {
  /** The texts of all records, which are in base64 in the request. */
  text: string
  /** The answer of Firehose. */
  answer: object
}

/** Undefined if the request is not for Firehose. `target`: the header X-Amz-Target. */
export function takeRecords(target: string | string[] | undefined, body: string): TakenRecords | undefined {
  if (target !== TARGET) return undefined
  const { Records } = objectOf(body) ?? {}
  const records: unknown[] = Array.isArray(Records) ? Records : []
  const RequestResponses = records.map(() => ({ RecordId: randomUUID() }))
  return {
    text: records.map(textOf).join(''),
    answer: { FailedPutCount: 0, Encrypted: false, RequestResponses },
  }
}

function textOf(record: unknown): string {
  const data = isObject(record) ? record.Data : undefined
  return typeof data === 'string' ? Buffer.from(data, 'base64').toString() : ''
}
