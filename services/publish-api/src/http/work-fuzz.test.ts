/**
 * Sends inputs that are made to cost work to every route and AWS operation. No answer is a 5xx, and every refusal is
 * short. The long form also measures: no input may take more of the event loop than 20 ms, or three times what parsing
 * the same bytes takes.
 */
import { Buffer } from 'node:buffer'
import { makeKey } from '@fantail/access'
import type { Operation } from '@fantail/aws-wire'
import { REQUEST_BYTES_MAX } from '@fantail/contracts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ZodObject } from 'zod'
import { snsOperations, sqsOperations } from '../aws/aws-operations.ts'
import { AWS_REQUEST_BYTES_MAX } from '../aws/wire/wire-request.ts'
import { answerTo, FUZZ_TIMEOUT_MS, fuzzRuns } from '../fixtures/fuzzing.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'

const MEASURES = Number(process.env.FANTAIL_FUZZ_CASES ?? 0) > 0
const LOOP_MS_MAX = 20
const PARSES_MAX = 3
const RUNS = 4
const TRIES = 8
const SHORT_BYTES = 20_000
const REFUSAL_BYTES_MAX = 65_536

let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
  api.deps.queueWaits = { receiveWaiting: (arn, request) => api.deps.queues.receive(arn, request) }
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/queues/work')
})

afterAll(() => api.stop())

const listOf = (item: (index: number) => string, bytes: number) =>
  Array.from({ length: Math.floor(bytes / (item(0).length + 6)) }, (_, index) => item(index)).join(',')
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const textOf = (part: string) => (bytes: number) => `"${part.repeat(bytes / Buffer.byteLength(part))}"`

/** JSON values of about so many bytes. */
const VALUES: ((bytes: number) => string)[] = [
  (bytes) => `{${listOf((i) => `"m${i}":1`, bytes)}}`,
  (bytes) => `{${listOf((i) => `"m${i}":"x"`, bytes)}}`,
  (bytes) => `{${listOf((i) => `"m${i}":{"type":"String","value":"x"}`, bytes)}}`,
  (bytes) => `[${listOf(() => '1', bytes)}]`,
  (bytes) => `[${listOf(() => '1.50', bytes)}]`,
  (bytes) => `[${listOf((i) => `"t${i}"`, bytes)}]`,
  (bytes) => `[${listOf(() => '{"a":1}', bytes)}]`,
  (bytes) => `[${listOf(() => '{"message":"x"}', bytes)}]`,
  (bytes) => `[${listOf(() => nested(90), bytes)}]`,
  (bytes) => nested(bytes / 2),
  ...['a', ' ', '/', '.', '-', '%', '*', 'a.', '{}', '[1,', 'é', '\\"', '\\u0000', '\\ud800'].map(textOf),
]

interface Case {
  what: string
  method: string
  path: string
  headers: Record<string, string>
  /** Made when it is sent, because all of them together would not fit into memory. */
  body: () => string
}

function restCases(bytes: number): Case[] {
  const headers = { 'Content-Type': 'application/json' }
  const names: Record<string, string> = { topic: 'orders', queue: 'work' }
  return endpointsOf(api.deps).flatMap(({ method, path, body, tag }) => {
    if (body === undefined || tag === 'AWS') return []
    const members = Object.keys((body as ZodObject).shape ?? { message: 1, messages: 1, attributes: 1 })
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? name)
    return [undefined, ...members].flatMap((member) =>
      VALUES.map((value, kind) => {
        const others = member === 'attributes' ? '"message":"x",' : ''
        const given = () => value(bytes - 100)
        const within = () => (member === undefined ? given() : `{${others}"${member}":${given()}}`)
        return {
          what: `${method} ${path} ${member ?? ''} ${kind}`,
          method,
          path: filled,
          headers,
          body: within,
        }
      }),
    )
  })
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const PARAMETERS: ((name: string, bytes: number) => string)[] = [
  (name, bytes) => `${name}=${'x'.repeat(bytes)}`,
  (name, bytes) => `${name}=${'%41'.repeat(bytes / 3)}`,
  (name, bytes) => `${name}=${'%C3%A9'.repeat(bytes / 6)}`,
  (name, bytes) => `${name}=${'+'.repeat(bytes)}`,
  (name, bytes) => `${name}=${encodeURIComponent(`{${listOf((i) => `"m${i}":1`, bytes / 3)}}`)}`,
  (name, bytes) => numbered((i) => `${name}.${i + 1}=x`, bytes),
  (name, bytes) => numbered((i) => `${name}.member.${i + 1}=x`, bytes),
  (name, bytes) => numbered((i) => `${name}.entry.${i + 1}.key=k${i}&${name}.entry.${i + 1}.value=v`, bytes),
  (name, bytes) =>
    numbered((i) => `${name}.${i + 1}.Name=k${i}&${name}.${i + 1}.Value.DataType=String`, bytes),
  (name, bytes) => `${name}${'.1'.repeat(bytes / 2)}=x`,
  (_, bytes) => numbered((i) => `p${i}=x`, bytes),
]

/** No more than the bound of parameters, which a request may also reach. */
const numbered = (item: (index: number) => string, bytes: number) =>
  Array.from({ length: Math.min(4_990, Math.floor(bytes / (item(0).length + 6))) }, (_, i) => item(i)).join(
    '&',
  )

function wireName({ input }: Operation, name: string): string {
  const shape = input[name]
  return typeof shape === 'object' && 'flat' in shape && shape.flat !== undefined ? shape.flat : name
}

function awsCases(bytes: number): Case[] {
  const wires = [
    { version: '2010-03-31', operations: snsOperations(api.deps) },
    { version: '2012-11-05', operations: sqsOperations(api.deps) },
  ]
  const byQuery = wires.flatMap(({ version, operations }) =>
    operations.flatMap((operation) =>
      Object.keys(operation.input).flatMap((name) =>
        PARAMETERS.map((parameters, kind) => ({
          what: `Query ${operation.name} ${name} ${kind}`,
          method: 'POST',
          path: '/',
          headers: FORM,
          body: () =>
            `Action=${operation.name}&Version=${version}&${parameters(wireName(operation, name), bytes - 200)}`,
        })),
      ),
    ),
  )
  const byJson = sqsOperations(api.deps).flatMap(({ name: operation, input }) =>
    ['Unknown', ...Object.keys(input)].flatMap((name) =>
      VALUES.map((value, kind) => ({
        what: `JSON ${operation} ${name} ${kind}`,
        method: 'POST',
        path: '/',
        headers: { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': `AmazonSQS.${operation}` },
        body: () => `{"QueueUrl":"/000000000000/work","${name}":${value(bytes - 200)}}`,
      })),
    ),
  )
  return [...byQuery, ...byJson]
}

/** The head of a request has at most 16 KiB on a socket. */
const HEAD_BYTES = 15_000
const TEXTS = ['x', '%41', '%C3%A9', '+', '%22', '"', '{', '[', ',', '*', '.', ';', '=']

/** Queries of every route, whether it takes one or not. */
function queryCases(): Case[] {
  return endpointsOf(api.deps).flatMap(({ method, path, query }) => {
    if (method !== 'GET') return []
    const filled = path.replace(/\{\w+\}/g, 'orders')
    const members = ['x', ...Object.keys((query as ZodObject | undefined)?.shape ?? {})]
    const queries = members.flatMap((member) => [
      ...TEXTS.map((text) => `${member}=${text.repeat(HEAD_BYTES / text.length)}`),
      `${member}=x&`.repeat(HEAD_BYTES / (member.length + 3)),
      numbered((i) => `${member}${i}=x`, HEAD_BYTES),
    ])
    return queries.map((sent, kind) => ({
      what: `GET ${path} ${kind}`,
      method,
      path: `${filled}?${sent}`,
      headers: {},
      body: () => '',
    }))
  })
}

/** Signatures of a known key, so that the API computes what was to be signed. */
function signedCases(accessKeyId: string): Case[] {
  const at = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${accessKeyId}/${at.slice(0, 8)}/us-east-1/sqs/aws4_request`
  const signed = (names: string) =>
    `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${names}, Signature=${'0'.repeat(64)}`
  const many = Array.from({ length: 1_000 }, (_, i) => [`x-${i}`, 'a  b'])
  const heads = [
    { Authorization: signed('host;'.repeat(HEAD_BYTES / 5)) },
    { Authorization: signed(numbered((i) => `x-${i}`, HEAD_BYTES).replaceAll('&', ';')) },
    { Authorization: signed(many.map(([name]) => name).join(';')), ...Object.fromEntries(many) },
    { Authorization: signed('host;x-a'), 'X-A': ' '.repeat(HEAD_BYTES) },
    { Authorization: `AWS4-HMAC-SHA256 ${'Credential=,'.repeat(HEAD_BYTES / 12)}` },
  ]
  const presigned = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(scope)}&X-Amz-Date=${at}&X-Amz-Expires=3600&X-Amz-Signature=${'0'.repeat(64)}`
  const queries = ['', ...TEXTS.map((text) => `a=${text.repeat(HEAD_BYTES / text.length)}`)].concat(
    numbered((i) => `p${i}=%7e`, HEAD_BYTES),
    '&'.repeat(HEAD_BYTES),
  )
  const now = { 'X-Amz-Date': at }
  return [
    ...heads.map((headers, kind) => ({ kind: `head ${kind}`, path: '/', headers: { ...now, ...headers } })),
    ...queries.flatMap((query, kind) => [
      { kind: `query ${kind}`, path: `/?${query}`, headers: { ...now, Authorization: signed('host') } },
      { kind: `presigned ${kind}`, path: `/?${presigned}&X-Amz-SignedHeaders=host&${query}`, headers: {} },
    ]),
  ].map(({ kind, path, headers }) => ({
    what: `signed ${kind}`,
    method: 'GET',
    path,
    headers: headers as Record<string, string>,
    body: () => '',
  }))
}

/** The CPU time of this thread that `work` takes. The kernel counts in steps of some ms, so it runs several times. */
async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  for (let i = 0; i < RUNS; i++) await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000 / RUNS
}

/** Collecting garbage of earlier cases may fall into a measurement, so a high one is repeated. */
async function isCheap(call: () => Promise<unknown>, body: Buffer): Promise<boolean> {
  const request = () => new Request('http://localhost/', { method: 'POST', body: new Uint8Array(body) })
  for (let i = 0; i < TRIES; i++) {
    // The test's own requests are made of bytes that a server gets from a socket.
    const took = (await cpuMs(call)) - (await cpuMs(() => request().arrayBuffer()))
    if (took <= LOOP_MS_MAX || took <= PARSES_MAX * (await cpuMs(() => parse(body)))) return true
  }
  return false
}

function parse(body: Buffer): void {
  try {
    JSON.parse(body.toString())
  } catch {
    // The time until JSON.parse refuses is the measure too.
  }
}

async function send({ what, method, path, headers, body }: Case, caller = api): Promise<void> {
  const given = Buffer.from(body())
  const call = () => caller.call(method, path, { headers, ...(method !== 'GET' && { body: given }) })
  const { status, text } = await answerTo(what, call)
  expect(status, what).toBeLessThan(500)
  if (status >= 400) expect([what, text.length < REFUSAL_BYTES_MAX]).toEqual([what, true])
  if (MEASURES) expect([what, await isCheap(call, given)]).toEqual([what, true])
}

test('a costly query or signature costs little and gets a short answer', {
  timeout: FUZZ_TIMEOUT_MS,
}, async () => {
  const keyed = await startTestApi({ auth: true })
  try {
    const { keys, vault } = keyed.deps
    const set = { name: 'test', prefixes: [], account: '000000000000', maxRequestsPerSecond: null }
    const { record } = makeKey({ ...set, kind: 'aws', scopes: ['consume'] }, { vault, now: 1 })
    await keys.create(record)
    const made = [...queryCases(), ...signedCases(record.id)]
    const index = fc.nat({ max: made.length - 1 })
    const sendOne = (chosen: Case) => send(chosen, chosen.what.startsWith('signed') ? keyed : api)
    await fc.assert(
      fc.asyncProperty(index, (chosen) => sendOne(made[chosen] as Case)),
      { numRuns: fuzzRuns(150, 0.01) },
    )
  } finally {
    await keyed.stop()
  }
})

test.each([
  { wire: 'REST', cases: restCases, bytesMax: REQUEST_BYTES_MAX, share: 0.01 },
  { wire: 'the AWS protocols', cases: awsCases, bytesMax: AWS_REQUEST_BYTES_MAX, share: 0.01 },
])(
  'costly input over $wire costs little and gets a short answer',
  {
    timeout: FUZZ_TIMEOUT_MS,
  },
  async ({ cases, bytesMax, share }) => {
    const index = fc.nat({ max: cases(SHORT_BYTES).length - 1 })
    const made = cases(MEASURES ? bytesMax : SHORT_BYTES)
    await fc.assert(
      fc.asyncProperty(index, (chosen) => send(made[chosen] as Case)),
      { numRuns: fuzzRuns(150, share) },
    )
  },
)
