/** Schemas of strangers: what is refused, what a check finds, and what bounds its work. */
import { EVENT_SCHEMA_DEPTH_MAX } from '@fantail/contracts'
import { describe, expect, test } from 'vitest'
import { schemaCheck } from './check-schema.ts'
import { compileSchema } from './schema-code.ts'
import { SchemaCompiler } from './schema-compiler.ts'

const compiled = (schema: unknown, examples: unknown[] = []) =>
  compileSchema({
    schema: JSON.stringify(schema),
    examples: examples.map((value) => JSON.stringify(value)),
    depthMax: EVENT_SCHEMA_DEPTH_MAX,
  })

function checkOf(schema: unknown): (value: unknown) => string | undefined {
  const reply = compiled(schema)
  if ('problem' in reply) throw new Error(`${reply.problem.path} ${reply.problem.message}`)
  const check = schemaCheck(reply.code)
  return (value) => check(JSON.stringify(value))
}

const repeated = (count: number, of: (n: number) => unknown) => Array.from({ length: count }, (_, n) => of(n))

describe('a check tells of each message whether it fits', () => {
  const order = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Order',
    type: 'object',
    properties: {
      id: { type: 'string', pattern: '^o-\\d+$', format: 'no-format' },
      lines: { type: 'array', items: { $ref: '#/$defs/line' }, minItems: 1, uniqueItems: true },
      kind: { enum: ['web', 'shop'], description: 'Where it was made.', 'x-order': 1 },
      parent: { $ref: '#' },
    },
    required: ['id', 'lines'],
    additionalProperties: false,
    $defs: {
      line: { type: 'object', properties: { sku: { type: 'string', maxLength: 5 } }, required: ['sku'] },
    },
  }
  const check = checkOf(order)
  const fine = { id: 'o-1', lines: [{ sku: 'a' }] }

  test.each<[unknown, string | undefined]>([
    [fine, undefined],
    [{ ...fine, parent: fine }, undefined],
    [{ lines: [] }, "must have required property 'id'"],
    [{ ...fine, id: 'x' }, '/id must match pattern "^o-\\d+$"'],
    [{ ...fine, lines: [] }, '/lines must NOT have fewer than 1 items'],
    [{ ...fine, lines: [{ sku: 'a' }, {}] }, "/lines/1 must have required property 'sku'"],
    [{ ...fine, lines: [{ sku: 'long, long' }] }, '/lines/0/sku must NOT have more than 5 characters'],
    [
      {
        ...fine,
        lines: [
          { sku: 'a', n: 1 },
          { n: 1, sku: 'a' },
        ],
      },
      '/lines must not have equal items',
    ],
    [{ ...fine, kind: 'post' }, '/kind must be equal to one of the allowed values'],
    [{ ...fine, more: 1 }, 'must NOT have additional properties, such as "more"'],
    [{ ...fine, parent: { ...fine, parent: 1 } }, '/parent/parent must be object'],
    ['text', 'must be object'],
  ])('%j has the problem %s', (value, problem) => {
    expect(check(value)).toBe(problem)
  })

  test('names the place where no alternative fits, and the keyword inside of a condition', () => {
    const either = checkOf({
      properties: {
        a: { anyOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/y' }] },
        b: JSON.parse('{"if":{"type":"string"},"then":{"minLength":3}}'),
      },
      $defs: { x: { type: 'string' }, y: { type: 'number', minimum: 5 } },
    })
    expect(either({ a: 1 })).toBe('/a must match a schema in anyOf')
    expect(either({ a: 'x', b: 'ab' })).toBe('/b must NOT have fewer than 3 characters')
    expect(either({ a: 7, b: 1 })).toBeUndefined()
  })

  test('knows which members were checked elsewhere', () => {
    const strict = checkOf({
      allOf: [{ properties: { a: true } }],
      properties: { b: true },
      unevaluatedProperties: false,
    })
    expect(strict({ a: 1, b: 1 })).toBeUndefined()
    expect(strict({ c: 1 })).toBe('must NOT have unevaluated properties, such as "c"')
  })

  test('counts characters, not their units', () => {
    const three = checkOf({ minLength: 3, maxLength: 3 })
    expect(['abc', 'äöü', '👍👍👍', 'a👍\ud83d'].map(three)).toEqual(repeated(4, () => undefined))
    expect(three('👍👍')).toBe('must NOT have fewer than 3 characters')
    expect(three('👍👍ab')).toBe('must NOT have more than 3 characters')
  })

  test('says so of a message that is no JSON', () => {
    const reply = compiled({})
    expect('code' in reply && schemaCheck(reply.code)('{')).toBe('must be JSON')
  })
})

describe('a schema is refused', () => {
  const deep = (depth: number): unknown => (depth === 0 ? {} : { items: deep(depth - 1) })
  test.each<[string, unknown, string]>([
    [
      'with an unknown keyword',
      { properties: { a: { typ: 'string' } } },
      'schema.properties.a.typ is not a keyword that is known',
    ],
    [
      'of an earlier draft',
      { definitions: {} },
      'schema.definitions is not a keyword that is known; draft 2020-12 has $defs',
    ],
    [
      'that names itself',
      { $id: '*/process.exit()/*' },
      'schema.$id is not a keyword that is known; references stay in the schema',
    ],
    [
      'in another language',
      { $schema: 'http://json-schema.org/draft-07/schema#' },
      'schema.$schema must be https://json-schema.org/draft/2020-12/schema',
    ],
    [
      'with a reference to another place',
      { $ref: 'https://example.com/x.json' },
      'schema.$ref must begin with #/, because references stay in the schema',
    ],
    [
      'with a reference to nothing',
      { $ref: '#/$defs/x' },
      'schema has a $ref to #/$defs/x, where it has no schema',
    ],
    [
      'with a reference into data',
      { const: { a: {} }, allOf: [{ $ref: '#/const/a' }] },
      'schema has a $ref to #/const/a, where it has no schema',
    ],
    [
      'that is too deep',
      deep(EVENT_SCHEMA_DEPTH_MAX),
      `is nested more than ${EVENT_SCHEMA_DEPTH_MAX} schemas deep`,
    ],
    ['with a wrong value', { minimum: '1' }, 'schema cannot be compiled: schema is invalid'],
    ['with a pattern that RE2 does not take', { pattern: '(a)\\1' }, 'schema cannot be compiled'],
    [
      'with a pattern that grows',
      { pattern: `${'('.repeat(3)}a{1,90}){1,90}){1,90}` },
      'schema cannot be compiled',
    ],
    [
      'with a long pattern',
      { pattern: 'a'.repeat(501) },
      'schema.pattern has a pattern of more than 500 characters',
    ],
    [
      'with many patterns',
      { properties: Object.fromEntries(repeated(101, (n) => [n, { pattern: 'a' }]) as never) },
      'schema must have at most 100 patterns',
    ],
    ['with a long list', { anyOf: repeated(101, () => ({})) }, 'schema.anyOf must have at most 100 schemas'],
    [
      'with many members',
      { properties: Object.fromEntries(repeated(501, (n) => [n, {}]) as never) },
      'schema.properties must have at most 500 schemas',
    ],
    [
      'that makes much code',
      {
        allOf: repeated(5, (n) => ({
          properties: Object.fromEntries(repeated(300, (i) => [`p${n}_${i}`, { type: 'string' }]) as never),
        })),
      },
      'schema is too complex',
    ],
    ['that is asynchronous', { $async: true }, 'schema.$async is not a keyword that is known'],
  ])('%s', (_, schema, message) => {
    const reply = compiled(schema)
    expect('problem' in reply && `${reply.problem.path} ${reply.problem.message}`).toContain(message)
  })

  test('with an example that does not fit', () => {
    expect(compiled({ type: 'string' }, ['a', 1])).toEqual({
      problem: { path: 'examples[1]', message: 'does not fit the schema: must be string' },
    })
  })
})

describe('a check ends', () => {
  const TOO_MUCH = 'takes too much work to be checked'
  const nested = (depth: number): unknown => (depth === 0 ? {} : { c: nested(depth - 1) })
  const child = { properties: { c: { $ref: '#' } } }

  test.each<[string, unknown, unknown]>([
    [
      'whose alternatives double at each level',
      { anyOf: [{ allOf: [child, { required: ['x'] }] }, child], required: ['y'] },
      nested(40),
    ],
    [
      'whose references multiply',
      {
        $ref: '#/$defs/a0',
        $defs: Object.fromEntries(
          repeated(30, (n) => [
            `a${n}`,
            n === 29 ? {} : { allOf: repeated(2, () => ({ $ref: `#/$defs/a${n + 1}` })) },
          ]) as never,
        ),
      },
      {},
    ],
    [
      'that counts a long text again and again',
      { items: { allOf: repeated(100, () => ({ maxLength: 1e6 })) } },
      repeated(10, () => 'x'.repeat(20_000)),
    ],
    [
      'that reads a long text by many patterns',
      { allOf: repeated(100, (n) => ({ pattern: `^(a|b|c|${n})*$` })) },
      'abc'.repeat(50_000),
    ],
    [
      'that counts many members again and again',
      { items: { allOf: repeated(100, () => ({ maxProperties: 1e6 })) } },
      repeated(5, () => Object.fromEntries(repeated(2_000, (n) => [`k${n}`, 1]) as never)),
    ],
    [
      'that compares each item with long lists',
      { items: { enum: repeated(5_000, (n) => `value ${n}`) } },
      repeated(10_000, () => 'value 4999'),
    ],
  ])('%s', (_, schema, value) => {
    expect(checkOf(schema)(value)).toBe(TOO_MUCH)
  })

  test('at a message that is nested deeper than the stack', () => {
    const reply = compiled(child)
    const text = `${'{"c":'.repeat(100_000)}1${'}'.repeat(100_000)}`
    expect('code' in reply && schemaCheck(reply.code)(text)).toBe('is nested too deeply to be checked')
  })

  test('and takes items that differ, however many they are', () => {
    const check = checkOf({ uniqueItems: true })
    expect(check(repeated(20_000, (n) => ({ n })))).toBeUndefined()
    expect(check([...repeated(20_000, (n) => ({ n })), { n: 0 }])).toBe('must not have equal items')
  })

  test('and joins errors of many references without copying them', () => {
    const some = { anyOf: repeated(100, () => ({ $ref: '#/$defs/x' })) }
    const many = {
      items: { anyOf: repeated(100, () => ({ $ref: '#/$defs/y' })) },
      $defs: { x: { type: 'null' }, y: some },
    }
    expect(checkOf(many)([1])).toBe('/0 must match a schema in anyOf')
  })
})

describe('the thread', () => {
  test('compiles schemas one after the other, and tells what is wrong', async () => {
    const compiler = new SchemaCompiler()
    const replies = await Promise.all([
      compiler.compile('{"type":"object"}'),
      compiler.compile('{"typ":"object"}'),
      compiler.compile('{"type":"object"}', ['1']),
    ])
    expect(replies).toMatchObject([
      { code: expect.stringContaining('= host;') },
      { problem: { path: 'schema.typ' } },
      { problem: { path: 'examples[0]', message: 'does not fit the schema: must be object' } },
    ])
    await compiler.stop()
  })

  test('is ended past its time, and another one compiles the next schema', async () => {
    const compiler = new SchemaCompiler({ compileMsMax: 1 })
    const costly = JSON.stringify({
      properties: Object.fromEntries(repeated(400, (n) => [`p${n}`, { type: 'string' }]) as never),
    })
    expect(await compiler.compile(costly)).toEqual({
      problem: { path: 'schema', message: 'takes too much time or memory to be compiled' },
    })
    await compiler.stop()
    const patient = new SchemaCompiler()
    expect(await patient.compile('{}')).toMatchObject({ code: expect.any(String) })
    await patient.stop()
  })
})
