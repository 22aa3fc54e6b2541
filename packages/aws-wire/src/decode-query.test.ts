import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AwsError, decodeQuery, parseParameters, type Shape } from './index.ts'

const PAIR = { struct: { Key: 'string', Value: 'string' } } as const
const SHAPES: Record<string, Shape> = {
  Name: 'string',
  Flag: 'boolean',
  Count: 'integer',
  Data: 'blob',
  Tags: { list: PAIR },
  Attributes: { map: 'string' },
  MessageAttributes: {
    map: { struct: { DataType: 'string', BinaryValue: 'blob' } },
    entry: { key: 'Name', value: 'Value' },
  },
  AttributeNames: { list: 'string', flat: 'AttributeName' },
  QueueTags: { map: 'string', flat: 'Tag', entry: { key: 'Key', value: 'Value' } },
  Entries: { list: { struct: { Id: 'string', Names: { list: 'string' } } }, flat: 'Entry' },
}

const decode = (text: string) => decodeQuery(parseParameters(text), SHAPES)

function refusal(text: string): AwsError {
  try {
    decode(text)
  } catch (error) {
    if (error instanceof AwsError) return error
    throw error
  }
  throw new Error(`not refused: ${text}`)
}

test('reads scalars, leaves out what is not given, ignores what is unknown', () => {
  expect(decode('Name=a+b%20%C3%A9&Flag=true&Count=-7&Data=AAEC&Action=X&Other.1.2=y')).toEqual({
    Name: 'a b é',
    Flag: true,
    Count: -7,
    Data: Buffer.from([0, 1, 2]),
  })
  expect(decode('')).toEqual({})
  expect(decode('Name=&Name2')).toEqual({ Name: '' })
})

test('reads lists in the order of their indexes, with gaps', () => {
  expect(decode('Tags.member.10.Key=b&Tags.member.2.Key=a&Tags.member.2.Value=1')).toEqual({
    Tags: [{ Key: 'a', Value: '1' }, { Key: 'b' }],
  })
})

test('[192] a list named without anything in it is empty, not missing', () => {
  expect(decode('Tags=&AttributeName=')).toEqual({ Tags: [], AttributeNames: [] })
})

test('reads maps under both names of their entries, and flattened members', () => {
  const text = [
    'Attributes.entry.1.key=DisplayName&Attributes.entry.1.value=x.y',
    'MessageAttributes.entry.1.Name=bin&MessageAttributes.entry.1.Value.DataType=Binary',
    'MessageAttributes.entry.1.Value.BinaryValue=AQ%3D%3D',
    'AttributeName.1=All&Tag.1.Key=k&Tag.1.Value=v',
    'Entry.1.Id=a&Entry.1.Names.member.1=n',
  ].join('&')
  expect(decode(text)).toEqual({
    Attributes: { DisplayName: 'x.y' },
    MessageAttributes: { bin: { DataType: 'Binary', BinaryValue: Buffer.from([1]) } },
    AttributeNames: ['All'],
    QueueTags: { k: 'v' },
    Entries: [{ Id: 'a', Names: ['n'] }],
  })
  expect(decode('AttributeName=All')).toEqual({ AttributeNames: ['All'] })
})

test('a parameter in the body wins over the same name in the query', () => {
  expect(decodeQuery(parseParameters('Name=body', 'Name=path&Count=1'), SHAPES)).toEqual({
    Name: 'body',
    Count: 1,
  })
})

test('a map has no members but its own', () => {
  const { Attributes } = decode('Attributes.entry.1.key=constructor&Attributes.entry.1.value=x')
  expect(Object.keys(Attributes as object)).toEqual(['constructor'])
  expect((Attributes as Record<string, unknown>).toString).toBeUndefined()
})

test.each([
  ['Name=%FF', 'MalformedQueryString'],
  ['Name=%E0%A4', 'MalformedQueryString'],
  ['Name=100%', 'MalformedQueryString'],
  ['Name=a&Name=b', 'MalformedInput'],
  ['Name.member.1=a', 'MalformedInput'],
  ['Tags=x', 'MalformedInput'],
  ['Attributes=x', 'MalformedInput'],
  ['Tags.member.0.Key=a', 'MalformedInput'],
  ['Tags.member.01.Key=a', 'MalformedInput'],
  ['Tags.member.1e3.Key=a', 'MalformedInput'],
  ['Tags.member.99999999999999999999.Key=a', 'MalformedInput'],
  ['Tags.member.__proto__.Key=a', 'MalformedInput'],
  ['Tags.member.1=a', 'MalformedInput'],
  ['Attributes.entry.1.key=__proto__&Attributes.entry.1.value=a', 'MalformedInput'],
  ['Attributes.entry.1.key=a', 'MalformedInput'],
  ['Attributes.entry.1.value=a', 'MalformedInput'],
  [
    'Attributes.entry.1.key=a&Attributes.entry.1.value=1&Attributes.entry.2.key=a&Attributes.entry.2.value=2',
    'MalformedInput',
  ],
  [`Tags${'.a'.repeat(100_000)}=x`, 'MalformedInput'],
  [`${'a&'.repeat(10_001)}`, 'MalformedInput'],
  ['Flag=yes', 'MalformedInput'],
  ['Count=1.5', 'MalformedInput'],
  ['Count=99999999999', 'MalformedInput'],
  ['Count=', 'MalformedInput'],
  ['Data=%25', 'MalformedInput'],
  ['Data=A', 'MalformedInput'],
])('%.60s is refused with 400', (text, code) => {
  expect(refusal(text)).toMatchObject({ code, status: 400 })
})

test('any names and values give a value or a refusal, and no prototype changes', () => {
  const part = fc.oneof(
    fc.constantFrom(
      ...Object.keys(SHAPES),
      'member',
      'entry',
      '1',
      'key',
      'value',
      '__proto__',
      'constructor',
    ),
    fc.string(),
  )
  const name = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('.'))
  const pair = fc.tuple(name, fc.oneof(fc.string({ unit: 'binary' }), fc.constant('true')))
  fc.assert(
    fc.property(fc.array(pair), fc.string(), (pairs, tail) => {
      const text = `${pairs.map(([key, value]) => `${key}=${value}`).join('&')}&${tail}`
      try {
        decode(text)
      } catch (error) {
        expect(error).toBeInstanceOf(AwsError)
      }
      expect(Object.keys(Object.prototype)).toEqual([])
    }),
  )
})

const text = fc.string({ unit: 'grapheme' })
const key = text.filter((name) => name !== '__proto__')
const given = fc.record(
  {
    Name: text,
    Flag: fc.boolean(),
    Count: fc.integer(),
    Data: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    Tags: fc.array(fc.record({ Key: text, Value: text })),
    Attributes: fc.dictionary(key, text, { minKeys: 1 }),
    AttributeNames: fc.array(text, { minLength: 1 }),
    QueueTags: fc.dictionary(key, text, { minKeys: 1 }),
    Entries: fc.array(fc.record({ Id: text, Names: fc.array(text) }), { minLength: 1 }),
  },
  { requiredKeys: [] },
)

test('encoded values are decoded unchanged', () => {
  fc.assert(
    fc.property(given, (input) => {
      const encoded = new URLSearchParams(Object.entries(SHAPES).flatMap((entry) => pairsOf(entry, input)))
      expect(decode(encoded.toString())).toEqual(input)
    }),
  )
})

/** Pairs as botocore's serializer writes them. */
function pairsOf([name, shape]: [string, Shape], values: object): [string, string][] {
  const value = (values as Record<string, unknown>)[name]
  return value === undefined ? [] : encode(name, shape, value)
}

function encode(path: string, shape: Shape, value: unknown): [string, string][] {
  if (typeof shape === 'string')
    return [[path, Buffer.isBuffer(value) ? value.toString('base64') : String(value)]]
  if ('struct' in shape) {
    return Object.entries(shape.struct).flatMap(([name, member]) =>
      encode(`${path}.${name}`, member, (value as Record<string, unknown>)[name]),
    )
  }
  const base = path.split('.').slice(0, -1).join('.')
  if ('list' in shape) {
    const items = value as unknown[]
    const prefix = shape.flat === undefined ? `${path}.member` : base + shape.flat
    if (items.length === 0) return [[path, '']]
    return items.flatMap((item, i) => encode(`${prefix}.${i + 1}`, shape.list, item))
  }
  const entry = shape.entry ?? { key: 'key', value: 'value' }
  const prefix = shape.flat === undefined ? `${path}.entry` : base + shape.flat
  return Object.entries(value as object).flatMap(([name, item], i) => [
    [`${prefix}.${i + 1}.${entry.key}`, name] as [string, string],
    ...encode(`${prefix}.${i + 1}.${entry.value}`, shape.map, item),
  ])
}
