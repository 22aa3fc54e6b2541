/**
 * Answers of AWS Query in JSON, for callers that accept `application/json`. Members have the same names as in XML, and
 * absent members are null. Some names of SQS differ from its model. This file lists them, as seen in answers of API
 * Gateway's integrations. Maps of SQS are lists of entries in this form, and maps of SNS are objects.
 */
import type { AwsError } from './aws-error.ts'
import type { WireAnswer } from './aws-service.ts'
import type { Operation } from './operation.ts'
import type { MapShape, Shape } from './shapes.ts'

type Members = Record<string, unknown>

const NAMES = new Map([
  ['Messages', 'messages'],
  ['QueueUrls', 'queueUrls'],
])

interface QueryJsonResult {
  requestId: string
  operation: Pick<Operation, 'name' | 'output'>
  /** The result's members, by the names of the operation's output. */
  result: Members | undefined
}

/** `{"{Op}Response": {"{Op}Result": …, "ResponseMetadata": …}}`. Operations without output have no result member. */
export function queryJsonAnswer({ requestId, operation, result }: QueryJsonResult): WireAnswer {
  const { name, output } = operation
  const response = {
    ...(output && { [`${name}Result`]: members(output, result ?? {}) }),
    ResponseMetadata: { RequestId: requestId },
  }
  return answerOf(200, { [`${name}Response`]: response }, requestId)
}

export function queryJsonError({ status, code, message }: AwsError, requestId: string): WireAnswer {
  const document = { Code: code, Message: message, Type: status < 500 ? 'Sender' : 'Receiver' }
  return answerOf(status, { Error: document, RequestId: requestId }, requestId)
}

function answerOf(status: number, body: object, requestId: string): WireAnswer {
  const headers = { 'Content-Type': 'application/json', 'x-amzn-RequestId': requestId }
  return { status, text: JSON.stringify(body), headers }
}

function members(shapes: Record<string, Shape>, values: Members): Members {
  const entries = Object.entries(shapes).map(([name, shape]) => [
    NAMES.get(name) ?? name,
    written(shape, values[name]),
  ])
  return Object.fromEntries(entries)
}

function written(shape: Shape, value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof shape === 'string') return Buffer.isBuffer(value) ? value.toString('base64') : value
  if ('list' in shape) return (value as unknown[]).map((item) => written(shape.list, item))
  return 'map' in shape ? mapOf(shape, value as Members) : members(shape.struct, value as Members)
}

function mapOf({ map, entry, flat }: MapShape, values: Members): unknown {
  const entries = Object.entries(values).map(([name, value]) => [name, written(map, value)] as const)
  if (flat === undefined) return Object.fromEntries(entries)
  const { key, value: member } = entry ?? { key: 'key', value: 'value' }
  return entries.map(([name, value]) => ({ [key]: name, [member]: value }))
}
