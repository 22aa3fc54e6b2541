/** Reads a publisher's MessageAttributes (checklist 123 to 125). The refusals are recorded from AWS. */
import { AwsError } from '@fantail/aws-wire'
import type { MessageAttribute } from '@fantail/contracts'

/** Decoded: blobs are Buffers. */
interface GivenAttribute {
  DataType?: string
  StringValue?: string
  BinaryValue?: Buffer
}

export const MESSAGE_ATTRIBUTES = {
  map: { struct: { DataType: 'string', StringValue: 'string', BinaryValue: 'blob' } },
  entry: { key: 'Name', value: 'Value' },
} as const

export interface ReadAttributes {
  /** undefined if there are none. */
  attributes: Record<string, MessageAttribute> | undefined
  /** Bytes of names, types and values. */
  bytes: number
}

/** @limit Name of an SNS message attribute. Past it: the message is refused. */
const SNS_ATTRIBUTE_NAME_BYTES_MAX = 256
const TYPE = /^(String|Number|Binary)(\..+)?$/s
/** Letters and digits of any script are allowed (recorded). */
const IMPERMISSIBLE = /[^\p{L}\p{Nd}_.-]/u

/** Throws the first error. `path`: where the entry of a batch is, `publishBatchRequestEntries.1.member.`. */
export function readAttributes(given: unknown, path = ''): ReadAttributes {
  const entries = Object.entries((given ?? {}) as Record<string, GivenAttribute>)
  if (entries.length === 0) return { attributes: undefined, bytes: 0 }
  const attributes: Record<string, MessageAttribute> = {}
  let bytes = 0
  for (const [name, value] of entries) {
    checkName(name)
    const { attribute, size } = readAttribute(name, value, path)
    attributes[name] = attribute
    bytes += Buffer.byteLength(name) + Buffer.byteLength(attribute.type) + size
  }
  return { attributes, bytes }
}

function readAttribute(
  name: string,
  { DataType: type, StringValue, BinaryValue }: GivenAttribute,
  path: string,
): { attribute: MessageAttribute; size: number } {
  if (type === undefined) throw missingType(name, path)
  if (!TYPE.test(type)) {
    throw refused(
      `The message attribute '${name}' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.`,
    )
  }
  const field = type.startsWith('Binary') ? 'Binary' : 'String'
  const [own, other] = field === 'Binary' ? [BinaryValue, StringValue] : [StringValue, BinaryValue]
  if (own === undefined && other !== undefined) {
    throw refused(`The message attribute '${name}' with type '${type}' must use field '${field}'.`)
  }
  if (own === undefined || own.length === 0) {
    throw refused(
      `The message attribute '${name}' must contain non-empty message attribute value for message attribute type '${type}'.`,
    )
  }
  return typeof own === 'string'
    ? { attribute: { type, value: own }, size: Buffer.byteLength(own) }
    : { attribute: { type, value: own.toString('base64') }, size: own.length }
}

function checkName(name: string): void {
  if (Buffer.byteLength(name) > SNS_ATTRIBUTE_NAME_BYTES_MAX) {
    throw refused('Length of message attribute name must be less than 256 bytes.')
  }
  if (name.startsWith('.')) {
    throw refused("Invalid message attribute name starting with character '.' was found.")
  }
  if (name.endsWith('.')) throw refused("Invalid message attribute name ending with character '.' was found.")
  const bad = IMPERMISSIBLE.exec(name)?.[0]
  if (bad !== undefined) {
    const hex = bad.codePointAt(0)?.toString(16).toUpperCase()
    throw refused(
      `Invalid non-alphanumeric character '#x${hex}' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots.`,
    )
  }
  if (name.includes('..')) throw refused("Message attribute name can not have successive '.' character.")
}

function missingType(name: string, path: string): AwsError {
  const at = `${path}messageAttributes.${name}.member.dataType`
  const message = `1 validation error detected: Value null at '${at}' failed to satisfy constraint: Member must not be null`
  return new AwsError('ValidationError', message)
}

function refused(message: string): AwsError {
  return new AwsError('ParameterValueInvalid', message)
}
