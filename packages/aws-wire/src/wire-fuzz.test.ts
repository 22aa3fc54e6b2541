/**
 * For any bytes, both codecs and the signature readers return a value or an AwsError. They can also read their own
 * output.
 */
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import {
  AwsError,
  decodeJson,
  decodeQuery,
  jsonAnswer,
  jsonError,
  type Operation,
  parseParameters,
  readAuthorization,
  type Shape,
  verifySignature,
  xmlAnswer,
  xmlError,
} from './index.ts'

const CASES = Number(process.env.FANTAIL_FUZZ_CASES ?? 0)
const numRuns = Math.max(400, Math.ceil(CASES * 0.05))
const timeout = CASES > 0 ? 3_600_000 : 60_000

const SHAPES: Record<string, Shape> = {
  Text: 'string',
  Number: 'integer',
  Flag: 'boolean',
  Bytes: 'blob',
  List: { list: 'string' },
  Flat: { list: { struct: { Id: 'string', Inner: { map: 'string' } } }, flat: 'FlatEntry' },
  Map: {
    map: { struct: { DataType: 'string', BinaryValue: 'blob' } },
    entry: { key: 'Name', value: 'Value' },
  },
}
const OPERATION: Operation = { name: 'Try', input: SHAPES, output: SHAPES, run: async () => undefined }

const name = fc.oneof(
  fc.constantFrom(
    ...Object.keys(SHAPES),
    'FlatEntry',
    'Action',
    'X-Amz-Signature',
    '__proto__',
    'constructor',
  ),
  fc.string({ unit: 'binary', maxLength: 10 }),
)
const path = fc
  .array(
    fc.oneof(name, fc.constantFrom('member', 'entry', '1', '2', '0', '999999', '1e9', 'key', 'Value', '')),
    { maxLength: 5 },
  )
  .chain((parts) => name.map((first) => [first, ...parts].join('.')))
const value = fc.oneof(
  fc.constantFrom('', '1', '-1', 'true', 'x', '99999999999', 'aGk=', '%', '\ud800'),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

/** The result. Undefined if `run` throws an AwsError. */
function refusable<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    expect(error).toBeInstanceOf(AwsError)
    expect((error as AwsError).status).toBeLessThan(500)
    return undefined
  }
}

describe('AWS Query', () => {
  test('any text is parameters or refused', { timeout }, () => {
    const escaped = fc.array(fc.oneof(path, value, fc.constantFrom('&', '=', '%', '%zz', '+', '%ff', ';')), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(escaped, (parts) => {
        const parameters = refusable(() => parseParameters(parts.join('')))
        if (parameters) refusable(() => decodeQuery(parameters, SHAPES))
      }),
      { numRuns },
    )
  })

  test('any parameters are an input or refused, and prototypes stay out', { timeout }, () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(path, value), { maxLength: 12 }), (pairs) => {
        const input = refusable(() => decodeQuery(new Map(pairs), SHAPES))
        if (!input) return
        expect(Object.keys(input).every((member) => Object.hasOwn(SHAPES, member))).toBe(true)
        expect(({} as Record<string, unknown>).Text).toBeUndefined()
      }),
      { numRuns },
    )
  })
})

describe('AWS JSON', () => {
  test('any text is an input or refused', { timeout }, () => {
    const nearly = fc
      .dictionary(name, fc.oneof(fc.jsonValue({ maxDepth: 4 }), value), { maxKeys: 8 })
      .map((body) => JSON.stringify(body))
    fc.assert(
      fc.property(fc.oneof(nearly, fc.string({ unit: 'binary' }), fc.json()), (text) => {
        const input = refusable(() => decodeJson(text, SHAPES))
        if (input) expect(Object.keys(input).every((member) => Object.hasOwn(SHAPES, member))).toBe(true)
      }),
      { numRuns },
    )
  })
})

describe('answers', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 }).map((one) => one.toWellFormed())
  const result = fc.record(
    {
      Text: text,
      Number: fc.integer(),
      Flag: fc.boolean(),
      Bytes: fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes)),
      List: fc.array(text, { maxLength: 3 }),
      Flat: fc.array(fc.record({ Id: text, Inner: fc.dictionary(text, text, { maxKeys: 2 }) }), {
        maxLength: 2,
      }),
      Map: fc.dictionary(text, fc.record({ DataType: text }), { maxKeys: 2 }),
    },
    { requiredKeys: [] },
  )
  const xml = new XMLParser({ parseTagValue: false, trimValues: false })

  test('are well-formed, and JSON holds what was put in', { timeout }, () => {
    fc.assert(
      fc.property(result, text, (answer, requestId) => {
        const done = { requestId: requestId || 'r', operation: OPERATION, result: answer }
        const written = xmlAnswer({ ...done, service: 'sqs' }).text
        expect(XMLValidator.validate(written)).toBe(true)
        expect(xml.parse(written)).toHaveProperty('TryResponse')
        const json = JSON.parse(jsonAnswer(done).text) as Record<string, unknown>
        if (answer.Text !== undefined) expect(json.Text).toBe(answer.Text)
      }),
      { numRuns },
    )
  })

  test('refusals are, too, whatever they quote', { timeout }, () => {
    fc.assert(
      fc.property(text, (message) => {
        const error = new AwsError('InvalidParameter', message)
        expect(XMLValidator.validate(xmlError(error, { service: 'sns', requestId: 'r' }).text)).toBe(true)
        const answer = jsonError(error, 'r')
        expect(JSON.parse(answer.text)).toMatchObject({ message })
        expect(answer.headers['x-amzn-query-error']).toMatch(/^[\x20-\x7e]+$/)
      }),
      { numRuns },
    )
  })
})

test('random signatures are refused', { timeout }, async () => {
  const credential = fc
    .array(fc.oneof(value, fc.constantFrom('AKID', '20260101', 'us-east-1', 'sns', 'aws4_request')), {
      maxLength: 7,
    })
    .map((parts) => parts.join('/'))
  const header = fc.oneof(
    value.map((rest) => `AWS4-HMAC-SHA256${rest}`),
    fc
      .tuple(credential, value, value)
      .map(
        ([scope, signed, signature]) =>
          `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date${signed}, Signature=${signature}`,
      ),
  )
  const date = fc.constantFrom('20260101T000000Z', '20269999T999999Z', 'x', undefined)
  await fc.assert(
    fc.asyncProperty(
      header,
      date,
      fc.array(fc.tuple(path, value), { maxLength: 5 }),
      async (text, amzDate, pairs) => {
        const headers: Record<string, string | undefined> = {
          authorization: text,
          host: 'h',
          'x-amz-date': amzDate,
        }
        const query = new Map(pairs)
        const authorization = readAuthorization({ header: (one) => headers[one], query })
        const checked = verifySignature({
          request: {
            method: 'POST',
            path: '/',
            search: '',
            header: (one) => headers[one],
            body: Buffer.from('x'),
          },
          query,
          authorization,
          service: 'sns',
          secretOf: (id) => (id === 'AKID' ? 'secret' : undefined),
          now: Date.UTC(2026, 0, 1),
        })
        const refusal = await checked.catch((error: unknown) => error)
        expect(refusal).toBeInstanceOf(AwsError)
        expect((refusal as AwsError).status).toBeLessThan(500)
      },
    ),
    { numRuns },
  )
})
