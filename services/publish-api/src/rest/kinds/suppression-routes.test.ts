import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
})
afterAll(() => api.stop())

const PATH = '/v1/email/suppressions'
const listed = async (query = '') => {
  const { body } = await api.call('GET', `${PATH}${query}`)
  return body as { suppressions: { address: string }[]; nextCursor: string | null }
}
const addressesIn = async () => (await listed()).suppressions.map(({ address }) => address)

test('an address is put on the list once, in lower case, and taken from it', async () => {
  const put = (body?: object) =>
    api.call('PUT', `${PATH}/${encodeURIComponent('Ada+x@Example.com')}`, { body })
  const made = await put({ reason: 'complaint', detail: 'called us' })
  expect([made.status, made.body]).toEqual([
    201,
    {
      address: 'ada+x@example.com',
      reason: 'complaint',
      detail: 'called us',
      suppressedAt: expect.any(String),
    },
  ])
  const again = await put()
  expect([again.status, again.body]).toEqual([200, made.body])
  expect(await addressesIn()).toEqual(['ada+x@example.com'])
  const remove = () => api.call('DELETE', `${PATH}/ADA%2Bx%40example.com`)
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 404])
  expect(await addressesIn()).toEqual([])
})

test('an import adds permanent bounces and complaints, and ignores the rest', async () => {
  const bounces = [
    { address: 'a@example.com', status: '5.1.1', detail: 'no such user' },
    { address: 'A@example.com' },
    { address: 'b@example.com', status: '4.2.2' },
    { address: 'c@example.com', type: 'complaint' },
  ]
  const { status, body } = await api.call('POST', '/v1/email/bounces', { body: { bounces } })
  expect([status, body]).toEqual([200, { suppressed: 2, present: 1, ignored: 1 }])
  const { suppressions } = await listed()
  expect(suppressions).toMatchObject([
    { address: 'a@example.com', reason: 'bounce', detail: '5.1.1 no such user' },
    { address: 'c@example.com', reason: 'complaint', detail: '' },
  ])
})

test('an import with an address that is none adds nothing', async () => {
  const before = await addressesIn()
  const bounces = [{ address: 'new@example.com' }, { address: 'new@example.com, other@example.com' }]
  const { status, body } = await api.call('POST', '/v1/email/bounces', { body: { bounces } })
  expect([status, body.error.details]).toEqual([
    400,
    [{ path: 'bounces[1].address', message: 'must be a mail address' }],
  ])
  expect((await api.call('PUT', `${PATH}/nobody`)).status).toBe(400)
  expect(await addressesIn()).toEqual(before)
})

test('the list has pages', async () => {
  const bounces = Array.from({ length: 5 }, (_, n) => ({ address: `page-${n}@example.com` }))
  await api.call('POST', '/v1/email/bounces', { body: { bounces } })
  const all = await addressesIn()
  const paged: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await listed(`?limit=2${cursor && `&cursor=${cursor}`}`)
    paged.push(...page.suppressions.map(({ address }) => address))
    cursor = page.nextCursor
  }
  expect(paged).toEqual(all)
})
