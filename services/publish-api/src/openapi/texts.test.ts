/** The document's texts for people: names, descriptions and examples. */
import { namedSchemas } from '@fantail/contracts/schemas/shared-schemas'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { endpointsOf } from '../server/app.ts'
import { examplesOf } from './component-schemas.ts'
import { describedTexts, type Json, operationsOf, says } from './openapi.fixture.ts'

let api: TestApi
let document: Json

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  document = (await api.call('GET', '/openapi.json')).body
})

afterAll(() => api.stop())

test.each([
  ['queueArn', 'Queue ARN', false],
  ['queueArn', 'The ARN of the queue.', false],
  ['status', 'Its status', false],
  ['queueArn', 'ARN of the queue whose messages are pushed.', true],
])('%s, described as "%s", says more than its name: %s', (name, text, expected) => {
  expect(says(name, text)).toBe(expected)
})

test('operation ids are unique, camelCase, and read as what they do', () => {
  const ids = operationsOf(document).map(({ operationId }) => operationId)
  expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)*$/.test(id))).toEqual([])
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
  const known = ['publish', 'createTopic', 'subscribe', 'receiveMessages', 'receiveNotification']
  expect(ids).toEqual(expect.arrayContaining(known))
})

test('every operation, parameter, member and header is described by more than its name', () => {
  const texts = describedTexts(document)
  expect(texts.length).toBeGreaterThan(400)
  expect(texts.filter(({ name, text }) => !says(name, text))).toEqual([])
})

test('descriptions are sentences of at most 25 words that begin with their subject', () => {
  const sentences = describedTexts(document).flatMap(({ place, text = '' }) =>
    text.split(/(?<=[.:;!?])\s/).map((sentence) => ({ place, sentence })),
  )
  const isBad = (sentence: string) =>
    sentence.split(/\s+/).length > 25 || /^(Of|What|As|That|Whose|Where|Who|One that)\b/.test(sentence)
  expect(sentences.filter(({ sentence }) => isBad(sentence))).toEqual([])
})

test('every tag is described and used', () => {
  const used = new Set(operationsOf(document).flatMap(({ tags }) => tags))
  const tags = document.tags as { name: string; description: string }[]
  expect(tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted())
  expect(tags.filter(({ name, description }) => !says(name, description))).toEqual([])
})

test('every schema of a request or an answer has an example', () => {
  const used = endpointsOf(api.deps).flatMap(({ body, answers }) => [
    ...(body ? [body] : []),
    ...Object.values(answers).flatMap(({ schema }) => (schema ? [schema] : [])),
  ])
  const bare = used.filter((schema) => examplesOf(schema).length === 0)
  expect(bare.map((schema) => namedSchemas.get(schema)?.id)).toEqual([])
})

test('every example is valid by its own schema and has no member that the schema lacks', () => {
  const components = [...namedSchemas._idmap.values()] as z.ZodType[]
  const examples = components.flatMap((schema) => examplesOf(schema).map((example) => ({ schema, example })))
  expect(examples.length).toBeGreaterThan(50)
  for (const { schema, example } of examples) {
    const parsed = schema.safeParse(example)
    expect([namedSchemas.get(schema)?.id, parsed.error?.issues]).toEqual([expect.any(String), undefined])
    // Defaults may be added, but nothing may be dropped.
    expect(parsed.data).toMatchObject(example as object)
  }
})
