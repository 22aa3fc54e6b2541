/** Answers of AWS Query in XML (checklist 191 to 193). */
import { XMLBuilder } from 'fast-xml-parser'
import type { AwsError } from './aws-error.ts'
import { type AwsService, NAMESPACES, type WireAnswer } from './aws-service.ts'
import type { Operation } from './operation.ts'
import type { ListShape, MapShape, Shape } from './shapes.ts'

type Members = Record<string, unknown>

/** Characters that XML 1.0 cannot contain, not even escaped. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&apos;'],
  // XML parsers turn a bare `\r` into a newline.
  ['\r', '&#xD;'],
])

/** Texts of these characters alone need no escaping. Ids, ARNs and numbers are such texts. */
const PLAIN = /^[\w\-:./ ]*$/

function escaped(text: string): string {
  if (PLAIN.test(text)) return text
  return text
    .replace(UNWRITABLE, '\ufffd')
    .replace(/[&<>"'\r]/g, (character) => ENTITIES.get(character) ?? '')
}

const builder = new XMLBuilder({
  ignoreAttributes: false,
  // An empty list is written as `<Topics/>`.
  suppressEmptyNode: true,
  // The library would not escape `\r`, so the escaping is done here.
  processEntities: false,
  tagValueProcessor: (_name, value) => escaped(String(value)),
})

interface Answered {
  service: AwsService
  requestId: string
}

interface XmlResult extends Answered {
  operation: Pick<Operation, 'name' | 'output'>
  /** The result's members, by the names of the operation's output. */
  result: Members | undefined
}

/** `{Op}Response` with `{Op}Result`. An operation without output has no `{Op}Result`. */
export function xmlAnswer({ service, requestId, operation, result }: XmlResult): WireAnswer {
  const { name, output } = operation
  if (output !== null && isFlat(output)) {
    return answerOf(200, flatText({ service, requestId, operation, result }), requestId)
  }
  const response = {
    ...(output && { [`${name}Result`]: members(output, result ?? {}) }),
    ResponseMetadata: { RequestId: requestId },
  }
  return xml(200, { [`${name}Response`]: response }, { service, requestId })
}

const flatOutputs = new WeakMap<Record<string, Shape>, boolean>()

/** Whether all members are texts, as in the output of Publish. */
function isFlat(output: Record<string, Shape>): boolean {
  let known = flatOutputs.get(output)
  if (known === undefined) {
    known = Object.values(output).every((shape) => shape === 'string')
    flatOutputs.set(output, known)
  }
  return known
}

/** The XML between the values, by service, operation and given members. Each operation has only a few of these. */
const skeletons = new Map<string, string[]>()
const PLACE = 'place-of-a-value'

/** The library renders each skeleton once. Later answers only insert their values. */
function flatText({ service, requestId, operation, result = {} }: XmlResult): string {
  const { name, output } = operation
  const given = Object.keys(output ?? {}).filter(
    (member) => result[member] !== undefined && result[member] !== null,
  )
  const key = `${service} ${name} ${given.join()}`
  let pieces = skeletons.get(key)
  if (!pieces) {
    const places = Object.fromEntries(given.map((member) => [member, PLACE]))
    const response = { [`${name}Result`]: places, ResponseMetadata: { RequestId: PLACE } }
    const { text } = xml(200, { [`${name}Response`]: response }, { service, requestId })
    pieces = text.split(PLACE)
    skeletons.set(key, pieces)
  }
  let text = pieces[0] ?? ''
  given.forEach((member, i) => {
    text += escaped(String(result[member])) + (pieces[i + 1] ?? '')
  })
  return text + escaped(requestId) + (pieces.at(-1) ?? '')
}

export function xmlError(error: AwsError, { service, requestId }: Answered): WireAnswer {
  const document = {
    Type: error.status < 500 ? 'Sender' : 'Receiver',
    Code: error.code,
    Message: error.message,
    ...(service === 'sqs' && { Detail: {} }),
  }
  return xml(
    error.status,
    { ErrorResponse: { Error: document, RequestId: requestId } },
    { service, requestId },
  )
}

/**
 * The error for a client of a service that Fantail does not have. Credential scopes name the service. S3 and EC2 have
 * error documents of their own form.
 */
export function xmlErrorOfOther(error: AwsError, to: { service: string; requestId: string }): WireAnswer {
  const { requestId } = to
  const document = { Code: error.code, Message: error.message }
  return answerOf(error.status, builder.build(otherError(to.service, document, requestId)), requestId)
}

function otherError(service: string, document: object, requestId: string): object {
  if (service === 's3') return { Error: { ...document, RequestId: requestId } }
  if (service === 'ec2') return { Response: { Errors: { Error: document }, RequestID: requestId } }
  return { ErrorResponse: { Error: { Type: 'Sender', ...document }, RequestId: requestId } }
}

function xml(status: number, root: Record<string, object>, { service, requestId }: Answered): WireAnswer {
  const [[name, content] = []] = Object.entries(root)
  const text = builder.build({ [name ?? '']: { '@_xmlns': NAMESPACES[service], ...content } })
  return answerOf(status, text, requestId)
}

function answerOf(status: number, text: string, requestId: string): WireAnswer {
  return { status, text, headers: { 'Content-Type': 'text/xml', 'x-amzn-RequestId': requestId } }
}

/** A structure in the library's form, with its members in the order of the shape. */
function members(shapes: Record<string, Shape>, values: Members): Members {
  const tree: Members = {}
  for (const [name, shape] of Object.entries(shapes)) {
    const value = values[name]
    if (value === undefined || value === null) continue
    const flat = typeof shape === 'object' && 'flat' in shape ? shape.flat : undefined
    tree[flat ?? name] = element(shape, value)
  }
  return tree
}

function element(shape: Shape, value: unknown): unknown {
  if (typeof shape === 'string') return Buffer.isBuffer(value) ? value.toString('base64') : String(value)
  if ('list' in shape) return listElement(shape, value as unknown[])
  if ('map' in shape) return mapElement(shape, value as Members)
  return members(shape.struct, value as Members)
}

function listElement({ list: item, flat }: ListShape, values: unknown[]): unknown {
  const items = values.map((value) => element(item, value))
  return flat === undefined ? { member: items } : items
}

function mapElement({ map: item, entry, flat }: MapShape, values: Members): unknown {
  const { key, value } = entry ?? { key: 'key', value: 'value' }
  const entries = Object.entries(values).map(([name, of]) => ({ [key]: name, [value]: element(item, of) }))
  return flat === undefined ? { entry: entries } : entries
}
