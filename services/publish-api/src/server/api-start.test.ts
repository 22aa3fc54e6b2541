/**
 * Redis becomes unreachable at each request of a start, in turn. The API must still start by itself and accept
 * messages.
 */
import { readApiSettings } from '@fantail/config'
import { createLogger } from '@fantail/runtime'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { atEachRequest, startRedis, startRedisOutage, waitFor } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { expect, test } from 'vitest'
import { createPublishApi } from './publish-api.ts'

const AWAY_MS = 60
const masterKey = parseMasterKey(createMasterKeyText())

/** Resolves with the number of requests until the start and its work were done. */
async function startThrough(at: number): Promise<number> {
  const server = await startRedis()
  const outage = await startRedisOutage(server.port, { at, forMs: AWAY_MS })
  const redisUrl = `redis://127.0.0.1:${outage.port}`
  const failures: unknown[] = []
  const api = createPublishApi({
    settings: readApiSettings({ FANTAIL_PORT: '0', REDIS_URL: redisUrl }),
    redisUrl,
    log: createLogger({ service: 'test', level: 'silent' }),
    telemetry: {
      metrics: createMetrics(),
      spans: NO_SPANS,
      renderMetrics: async () => '',
      stop: async () => undefined,
    },
    build: { version: '1.2.3', commit: 'c0ffee' },
    vault: masterKey && createVault([masterKey]),
    fail: (error) => failures.push(error),
  })
  await api.start()
  const call = async (method: string, path: string, body: string) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`http://127.0.0.1:${api.port}${path}`, { method, headers, body })).status
  }
  try {
    const works = async () =>
      (await call('PUT', '/v1/topics/orders', '{}')) < 300 &&
      (await call('POST', '/v1/topics/orders/messages', '{"message":"x"}')) === 202 &&
      (await call('PUT', '/v1/queues/jobs', '{}')) < 300 &&
      (await call('POST', '/v1/queues/jobs/messages', '{"body":"x"}')) === 201
    await waitFor(works, { what: `the API, with Redis away at request ${at}`, timeoutMs: 15_000 })
    expect(failures).toEqual([])
    return outage.requests
  } finally {
    await api.stop()
    await outage.close()
    await server.stop()
  }
}

test('a start goes on wherever Redis goes away', { timeout: 120_000 }, async () => {
  expect(await atEachRequest(startThrough)).toBeGreaterThan(5)
})
