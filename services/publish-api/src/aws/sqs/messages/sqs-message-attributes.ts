/** Message attributes of senders, checked by SQS's rules (checklist 218), and the selection for a receiver. */
import type { AwsInput } from '@fantail/aws-wire'
import {
  type MessageAttribute,
  QUEUE_ATTRIBUTE_TYPE_CHARS_MAX,
  unsendableCharacter,
  unsendableNumber,
} from '@fantail/contracts'
import { invalidParameterValue, sqsError } from '../wire/sqs-error.ts'

/** @limit Attributes of an SQS message. Past it: the message is refused. */
const SQS_ATTRIBUTES_MAX = 10
/** @limit Name of an SQS message attribute. Past it: the message is refused. */
const SQS_ATTRIBUTE_NAME_CHARS_MAX = 256
/** Letters and digits of any script are allowed (recorded). */
const NAME_CHARS = /^[\p{L}\p{Nd}_.-]+$/u
const RESERVED_NAME = /^(aws\.|amazon\.|\.)|\.$/i
const TYPE = /^(String|Number|Binary)/

/** An attribute in the form in which the decoded request has it. */
interface GivenValue {
  DataType?: string
  StringValue?: string
  BinaryValue?: Buffer
  StringListValues?: string[]
  BinaryListValues?: Buffer[]
}

/** Refuses lists of values, which SQS supports in no operation. An empty list is a list, too. */
export function refuseLists(
  { MessageAttributes, MessageSystemAttributes }: AwsInput,
  operation: string,
): void {
  for (const given of [MessageAttributes, MessageSystemAttributes]) {
    for (const value of Object.values((given ?? {}) as Record<string, GivenValue>)) {
      if (value.StringListValues === undefined && value.BinaryListValues === undefined) continue
      const text = `Message attribute list values in ${operation} operation are not supported.`
      throw sqsError('UnsupportedOperation', text)
    }
  }
}

interface ReadAttributes {
  attributes: Record<string, MessageAttribute>
  /** Bytes of names, types and values. */
  bytes: number
}

/** Throws `InvalidParameterValue` for the first error. */
export function readAttributes(given: unknown): ReadAttributes {
  const entries = Object.entries((given ?? {}) as Record<string, GivenValue>)
  if (entries.length > SQS_ATTRIBUTES_MAX) {
    throw invalidParameterValue(
      `Number of message attributes [${entries.length}] exceeds the allowed maximum [${SQS_ATTRIBUTES_MAX}].`,
    )
  }
  const read: ReadAttributes = { attributes: {}, bytes: 0 }
  for (const [name, value] of entries) {
    checkName(name)
    read.attributes[name] = readAttribute(name, value)
  }
  read.bytes = attributeBytes(given)
  return read
}

/** Counts invalid attributes too, because the size of a batch is checked before its entries. */
export function attributeBytes(given: unknown): number {
  let bytes = 0
  for (const [name, value] of Object.entries((given ?? {}) as Record<string, GivenValue>)) {
    const { DataType = '', StringValue = '', BinaryValue } = value
    bytes += Buffer.byteLength(name) + Buffer.byteLength(DataType)
    bytes += BinaryValue?.length ?? Buffer.byteLength(StringValue)
  }
  return bytes
}

function checkName(name: string): void {
  if (name.length > SQS_ATTRIBUTE_NAME_CHARS_MAX) {
    throw invalidParameterValue(
      `Message (user) attribute names can have at most ${SQS_ATTRIBUTE_NAME_CHARS_MAX} characters.`,
    )
  }
  if (!NAME_CHARS.test(name) || name.includes('..')) {
    throw invalidParameterValue(
      `Message (user) attribute name '${name}' is invalid. It can only contain letters, digits, hyphens, underscores and single periods.`,
    )
  }
  if (RESERVED_NAME.test(name)) {
    throw invalidParameterValue(
      `Message (user) attribute name '${name}' is invalid. It cannot start or end with a period, or start with 'AWS.' or 'Amazon.'.`,
    )
  }
}

function readAttribute(name: string, { DataType: type = '', ...value }: GivenValue): MessageAttribute {
  if (type === '')
    throw invalidParameterValue(`Message (user) attribute '${name}' must contain a non-empty attribute type.`)
  const prefix = TYPE.exec(type)?.[1]
  const isLong = type.length > QUEUE_ATTRIBUTE_TYPE_CHARS_MAX
  if (prefix === undefined || isLong || unsendableCharacter(type) !== undefined) {
    throw invalidParameterValue(
      `The type of message (user) attribute '${name}' is invalid. You must use only the following supported type prefixes: Binary, Number, String.`,
    )
  }
  const content = prefix === 'Binary' ? value.BinaryValue : value.StringValue
  if (!content?.length) {
    throw invalidParameterValue(
      `Message (user) attribute '${name}' must contain a non-empty value of type '${type}'.`,
    )
  }
  if (typeof content !== 'string') return { type, value: content.toString('base64') }
  checkText(name, type, content)
  return { type, value: content }
}

function checkText(name: string, type: string, text: string): void {
  if (unsendableNumber({ type, value: text })) {
    throw invalidParameterValue(`Can't cast the value of message (user) attribute '${name}' to a number.`)
  }
  const refused = unsendableCharacter(text)
  if (refused === undefined) return
  throw invalidParameterValue(
    `Invalid binary character '${refused}' was found in the message attribute '${name}' value.`,
  )
}

/** The attributes whose names match one of `names`: exactly, all (`All`, `.*`), or by prefix (`prefix.*`). */
export function selectAttributes(
  attributes: Record<string, MessageAttribute>,
  names: readonly string[],
): Record<string, MessageAttribute> {
  if (names.length === 0) return {}
  if (names.some((name) => name === 'All' || name === '.*' || name === '*')) return attributes
  const wanted = (attribute: string) =>
    names.some((name) => (name.endsWith('.*') ? attribute.startsWith(name.slice(0, -2)) : attribute === name))
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => wanted(name)))
}

/** Attributes in the wire's form. */
export function attributeValues(attributes: Record<string, MessageAttribute>): Record<string, GivenValue> {
  const values = Object.entries(attributes).map(([name, { type, value }]) => {
    const content = type.startsWith('Binary')
      ? { BinaryValue: Buffer.from(value, 'base64') }
      : { StringValue: value }
    return [name, { ...content, DataType: type }] as const
  })
  return Object.fromEntries(values)
}
