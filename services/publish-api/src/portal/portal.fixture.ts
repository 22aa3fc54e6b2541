/** Portal links and sessions for tests. */
import type { TestKey } from '../auth/keys.fixture.ts'
import type { Called, TestApi } from '../fixtures/test-api.fixture.ts'

export const SAME_PAGE = { 'Sec-Fetch-Site': 'same-origin' }

export interface TestPortal {
  id: string
  token: string
  call(method: string, path: string, body?: unknown): Promise<Called>
  status(method: string, path: string, body?: unknown): Promise<number>
}

/** The token of a new link. */
export async function linkOf(maker: TestKey, body: object): Promise<string> {
  const { status, body: link } = await maker.call('POST', '/v1/portal-links', { body })
  if (status !== 201) throw new Error(`no link was made: ${status} ${JSON.stringify(link)}`)
  return new URL(link.url).hash.slice(1)
}

export function redeem(api: TestApi, token: string, headers: Record<string, string> = SAME_PAGE) {
  return api.call('POST', '/v1/portal/session', { body: { token }, headers })
}

export async function portalOf(api: TestApi, maker: TestKey, body: object): Promise<TestPortal> {
  const { body: session } = await redeem(api, await linkOf(maker, body))
  const headers = { Authorization: `Bearer ${session.token}` }
  const call: TestPortal['call'] = (method, path, given) =>
    api.call(method, path, { headers, ...(given !== undefined && { body: given }) })
  const status: TestPortal['status'] = async (...asked) => (await call(...asked)).status
  return { id: session.id, token: session.token, call, status }
}
