/** AWS JSON 1.0, which SQS speaks (checklist 161, 205): inputs by shapes, answers, errors. */
import { JsonBoundError, parseBounded } from '@fantail/contracts'
import { AwsError } from './aws-error.ts'
import type { WireAnswer } from './aws-service.ts'
import type { AwsInput, Operation } from './operation.ts'
import { fromBase64, type Shape } from './shapes.ts'
import { sqsShapeOf } from './sqs-error-shapes.ts'

type Members = Record<string, unknown>

const JSON_TYPE = 'application/x-amz-json-1.0'

/** Decodes an input. An empty text is an empty input. Members that are unknown or null count as not given. */
export function decodeJson(text: string, shapes: Record<string, Shape>): AwsInput {
  return members(text === '' ? {} : parsed(text), shapes)
}

function parsed(text: string): unknown {
  try {
    return parseBounded(text)
  } catch (cause) {
    const message = cause instanceof JsonBoundError ? `${cause.message}.` : 'The request is not JSON.'
    throw unreadable(message, cause)
  }
}

function unreadable(message: string, cause?: unknown): AwsError {
  return new AwsError('SerializationException', message, { cause })
}

function members(value: unknown, shapes: Record<string, Shape>): AwsInput {
  const given = objectOf(value)
  const result: AwsInput = {}
  for (const [name, shape] of Object.entries(shapes)) {
    const member = Object.hasOwn(given, name) ? given[name] : null
    if (member !== null) result[name] = decoded(member, shape)
  }
  return result
}

function objectOf(value: unknown): Members {
  if (Array.isArray(value)) throw unreadable('Start of list found where not expected')
  if (typeof value === 'object' && value !== null) return value as Members
  throw unreadable(`Unexpected ${kindOf(value)} where a structure or map was expected`)
}

function decoded(value: unknown, shape: Shape): unknown {
  if (typeof shape === 'string') return scalar(value, shape)
  if ('list' in shape) {
    if (!Array.isArray(value)) throw unreadable('Expected list or null')
    return value.map((item) => decoded(item, shape.list))
  }
  return 'map' in shape ? mapOf(value, shape.map) : members(value, shape.struct)
}

function mapOf(value: unknown, item: Shape): Members {
  const result: Members = Object.create(null)
  for (const [key, member] of Object.entries(objectOf(value))) {
    // Code that copies the map member by member would lose this key or change the copy's prototype.
    if (key === '__proto__') throw unreadable('The key __proto__ is not allowed')
    if (member !== null) result[key] = decoded(member, item)
  }
  return result
}

function scalar(value: unknown, shape: Extract<Shape, string>): unknown {
  switch (shape) {
    case 'string':
      if (typeof value === 'string') return value
      throw wrongKind(value, 'a String')
    case 'boolean':
      if (typeof value === 'boolean') return value
      throw wrongKind(value, 'a Boolean')
    case 'integer':
      // 32 bits, as in the models.
      if (typeof value === 'number' && value === (value | 0)) return value
      throw wrongKind(value, 'an Integer')
    case 'blob':
      return bytesOf(value)
  }
}

function bytesOf(value: unknown): Buffer {
  if (typeof value !== 'string') throw wrongKind(value, 'a Blob')
  const bytes = fromBase64(value)
  if (bytes) return bytes
  throw unreadable('A Blob must be Base64')
}

/** Uses the texts of AWS, which name the tokens of AWS's parser. */
function wrongKind(value: unknown, wanted: string): AwsError {
  if (Array.isArray(value)) return unreadable('Start of list found where not expected')
  if (typeof value === 'object') return unreadable('Start of structure or map found where not expected')
  return unreadable(`${kindOf(value)} can not be converted to ${wanted}`)
}

function kindOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'TRUE_VALUE' : 'FALSE_VALUE'
  return typeof value === 'number' ? 'NUMBER_VALUE' : 'STRING_VALUE'
}

interface JsonResult {
  requestId: string
  operation: Pick<Operation, 'output'>
  result: Members | undefined
}

/** An operation without output gets an empty body, as recorded from SQS. */
export function jsonAnswer({ requestId, operation, result }: JsonResult): WireAnswer {
  const { output } = operation
  const text = output === null ? '' : JSON.stringify(result ? encodedMembers(result, output) : {})
  return json(200, text, requestId)
}

function encoded(shape: Shape, value: unknown): unknown {
  if (shape === 'blob') return Buffer.isBuffer(value) ? value.toString('base64') : value
  if (typeof shape === 'string') return value
  if ('list' in shape) return (value as unknown[]).map((item) => encoded(shape.list, item))
  const values = value as Members
  return 'map' in shape ? encodedMap(values, shape.map) : encodedMembers(values, shape.struct)
}

function encodedMap(values: Members, item: Shape): Members {
  return Object.fromEntries(Object.entries(values).map(([name, member]) => [name, encoded(item, member)]))
}

/** Members without a value are left out. */
function encodedMembers(values: Members, shapes: Record<string, Shape>): Members {
  const given = Object.entries(shapes).filter(([name]) => values[name] !== undefined && values[name] !== null)
  return Object.fromEntries(given.map(([name, shape]) => [name, encoded(shape, values[name])]))
}

/** A header carries the code of the Query protocol, because clients choose their exception by it. */
export function jsonError(error: AwsError, requestId: string): WireAnswer {
  const document = { __type: sqsShapeOf(error), message: error.message }
  const answer = json(error.status, JSON.stringify(document), requestId)
  answer.headers['x-amzn-query-error'] = `${error.code};${error.status < 500 ? 'Sender' : 'Receiver'}`
  return answer
}

function json(status: number, text: string, requestId: string): WireAnswer {
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE, 'x-amzn-RequestId': requestId }
  return { status, text, headers }
}
