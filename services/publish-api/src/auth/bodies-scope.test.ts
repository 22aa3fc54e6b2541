/** The parts of messages that a key without the scope `bodies` sees. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { keyWith, type TestKey } from './keys.fixture.ts'

let api: TestApi
let admin: TestKey
const QUEUE = '/v1/queues/jobs/messages'

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'bodies'])
  await admin.call('PUT', '/v1/queues/jobs')
  const body = { body: 'secret', attributes: { kind: { type: 'String', value: 'secret too' } } }
  await admin.call('POST', QUEUE, { body })
})
afterAll(() => api.stop())

async function lookedAt(key: TestKey): Promise<{ body: string | null; messageId: string }[]> {
  const list = (await key.call('GET', QUEUE)).body.messages
  const one = (await key.call('GET', `${QUEUE}/${list[0].messageId}`)).body
  return [list[0], one]
}

test('without the scope a look shows size and digest, and neither text nor attributes', async () => {
  for (const message of await lookedAt(await keyWith(api, ['read']))) {
    expect(message).toMatchObject({
      body: null,
      attributes: {},
      bodyBytes: 6,
      bodySha256: '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b',
    })
    expect(JSON.stringify(message)).not.toContain('secret')
  }
  for (const message of await lookedAt(admin)) expect(message).toMatchObject({ body: 'secret', bodyBytes: 6 })
})

test('a key without the scope exports nothing from the quarantine, and gives the scope to no key', async () => {
  const manager = await keyWith(api, ['read', 'manage'])
  const refused = await manager.call('GET', '/v1/quarantine/none')
  expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining('bodies')])
  expect(await admin.status('GET', '/v1/quarantine/none')).toBe(404)
  expect(await manager.status('POST', '/v1/keys', { name: 'x', scopes: ['read', 'bodies'] })).toBe(403)
})
