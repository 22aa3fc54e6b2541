/** Redis becomes unreachable at each request of a start, in turn. The worker must still start by itself and deliver. */
import { atEachRequest, startRedisOutage, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { createFakeSender, createFixture } from './fixtures/worker.fixture.ts'

const AWAY_MS = 60

/** Resolves with the number of requests until the start and its work were done. */
async function startThrough(at: number): Promise<number> {
  const fixture = await createFixture()
  await fixture.reset()
  await fixture.subscribe('a')
  const outage = await startRedisOutage(fixture.server.port, { at, forMs: AWAY_MS })
  const sender = createFakeSender()
  try {
    await fixture.publish('before the start')
    await fixture.startWorker(sender, {
      redisUrl: `redis://127.0.0.1:${outage.port}`,
      checkMasterKey: true,
    })
    const arrived = () => sender.sent.some(({ body }) => body === 'before the start')
    await waitFor(arrived, { what: `the message, with Redis away at request ${at}`, timeoutMs: 15_000 })
    return outage.requests
  } finally {
    await fixture.stop()
    await outage.close()
  }
}

test('a start goes on wherever Redis goes away', { timeout: 120_000 }, async () => {
  expect(await atEachRequest(startThrough)).toBeGreaterThan(5)
})
