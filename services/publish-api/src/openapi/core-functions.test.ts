/** The functions of @fantail/client's generated core, against the API. */
import { createClient, createTopic, listTopics, publish } from '@fantail/client/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { createApp } from '../server/app.ts'

let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
})

afterAll(() => api.stop())

test('a function of the core sends its operation and returns the answer; a refusal is thrown', async () => {
  const app = createApp(api.deps)
  const client = createClient({
    baseUrl: 'http://localhost:4100',
    fetch: async (request) => app.request(request as Request),
  })
  await createTopic({ client, path: { topic: 'orders' } })
  const { messageId } = (await publish({
    client,
    path: { topic: 'orders' },
    body: { message: { order: 7 } },
  })) as { messageId: string }
  expect((await api.published()).map(({ messageId: id }) => id)).toEqual([messageId])
  const page = await listTopics({ client, query: { limit: 10 } })
  expect(page.topics.map(({ name }) => name)).toEqual(['orders'])
  await expect(publish({ client, path: { topic: 'lost' }, body: { message: 'x' } })).rejects.toMatchObject({
    error: { code: 'not_found' },
  })
})
