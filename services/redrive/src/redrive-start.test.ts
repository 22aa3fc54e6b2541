/**
 * Redis becomes unreachable at each request of a start, in turn. The service must still start by itself and do its
 * work.
 */
import { createLogger } from '@fantail/runtime'
import { atEachRequest, startRedisOutage, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { drainLanes, makeDeadLetters, SOURCE, startFixture, subscribe } from './redrive.fixture.ts'
import { createRedriveService } from './redrive-service.ts'

const AWAY_MS = 60
/** Resolves with the number of requests until the start and its work were done. */
async function startThrough(at: number): Promise<number> {
  const fixture = await startFixture()
  await fixture.reset()
  await makeDeadLetters(fixture, await subscribe(fixture), 1)
  const task = await fixture.redrives.create({
    source: SOURCE,
    destination: null,
    maxMessagesPerSecond: null,
    filter: {},
  })
  const outage = await startRedisOutage(fixture.server.port, { at, forMs: AWAY_MS })
  const service = createRedriveService({
    redisUrl: `redis://127.0.0.1:${outage.port}`,
    log: createLogger({ service: 'test', level: 'silent' }),
  })
  try {
    await service.start()
    const isDone = async () => (await fixture.redrives.get(task.id))?.status === 'completed'
    await waitFor(isDone, { what: `the task, with Redis away at request ${at}`, timeoutMs: 15_000 })
    await drainLanes(fixture)
    expect(fixture.delivered).toHaveLength(1)
    const scheduled = () => fixture.redis.exists('ft:{maintenance}:maintenance:repeat')
    await waitFor(async () => (await scheduled()) === 1, {
      what: `the sweeps, request ${at}`,
      timeoutMs: 15_000,
    })
    return outage.requests
  } finally {
    await service.stop()
    await outage.close()
    await fixture.stop()
  }
}

test('a start goes on wherever Redis goes away', { timeout: 120_000 }, async () => {
  expect(await atEachRequest(startThrough)).toBeGreaterThan(10)
})
