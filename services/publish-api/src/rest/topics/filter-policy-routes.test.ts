import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
afterAll(() => api.stop())

const tried = (body: unknown) => api.call('POST', '/v1/filter-policies/test', { body })

test('says of each clause whether the message satisfies it', async () => {
  const filterPolicy = { color: ['red'], size: [{ numeric: ['>', 10] }] }
  const attributes = { color: 'red', size: 5 }
  const { status, body } = await tried({ filterPolicy, message: { message: 'x', attributes } })
  expect([status, body]).toEqual([
    200,
    {
      matched: false,
      reason: 'MessageAttributes',
      clauses: [
        { path: 'color', condition: ['red'], matched: true, value: 'red' },
        { path: 'size', condition: [{ numeric: ['>', 10] }], matched: false, value: 5 },
      ],
    },
  ])
})

test('shows the value that satisfies a clause, else all that are there', async () => {
  const filterPolicy = { a: ['y'], b: ['y'], c: [{ exists: false }], d: [null] }
  const body = { a: ['x', 'y'], b: ['x', 1], d: null }
  const answer = await tried({ filterPolicy, filterPolicyScope: 'MessageBody', message: { message: body } })
  const clauses: { path: string; matched: boolean; value?: unknown }[] = answer.body.clauses
  expect(clauses.map(({ path, matched, value }) => [path, matched, value])).toEqual([
    ['a', true, 'y'],
    ['b', false, ['x', 1]],
    ['c', true, undefined],
    ['d', true, null],
  ])
})

test('[91] a key named $or is recognised', async () => {
  const filterPolicy = { $or: [{ prefix: 'x' }, { suffix: 'y' }] }
  const message = { message: 'x', attributes: { color: 'red' } }
  const { status, body } = await tried({ filterPolicy, message })
  expect([status, body.clauses]).toEqual([
    200,
    [{ path: '$or', condition: filterPolicy.$or, matched: false }],
  ])
})

test('looks into bodies, objects too, and at the text of the protocol', async () => {
  const filterPolicy = { order: { state: [{ prefix: 'pa' }] }, $or: [{ a: [1] }, { b: [{ exists: false }] }] }
  const scope = { filterPolicy, filterPolicyScope: 'MessageBody' }
  const object = await tried({ ...scope, message: { message: { order: { state: 'paid' } } } })
  expect(object.body).toMatchObject({ matched: true, reason: null })
  expect(
    object.body.clauses.map(({ path, matched }: { path: string; matched: boolean }) => [path, matched]),
  ).toEqual([
    ['order.state', true],
    ['a', false],
    ['b', true],
  ])
  const texts = { default: '{}', sqs: '{"order":{"state":"paid"}}' }
  const message = { message: JSON.stringify(texts), structure: 'json' }
  expect((await tried({ ...scope, message })).body.matched).toBe(false)
  expect((await tried({ ...scope, message, protocol: 'sqs' })).body.matched).toBe(true)
  expect((await tried({ ...scope, message: { message: 'no JSON' } })).body.reason).toBe('InvalidMessageBody')
})

test('problems of the policy or the message are reported', async () => {
  const message = { message: 'x' }
  const refused = await tried({ filterPolicy: { a: [] }, message })
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    400,
    'validation_failed',
    [{ path: 'filterPolicy', message: 'is refused: Empty arrays are not allowed' }],
  ])
  const both = await tried({ filterPolicy: { a: 'b' }, message: { message: 5 } })
  expect(both.body.error.details.map(({ path }: { path: string }) => path).sort()).toEqual([
    'filterPolicy',
    'message.message',
  ])
})
