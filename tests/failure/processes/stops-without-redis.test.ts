/** SIGTERM of each process while Redis is down. A process without a running job ends by itself. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServiceName, ServiceProcess } from '../../harness/services/service-process.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'fantail-data-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

/** The redrive service has no case where Redis stays away, because a sweep that runs needs Redis to end. */
const CASES: { name: ServiceName; what: 'stays away' | 'comes back' }[] = [
  { name: 'publish-api', what: 'stays away' },
  { name: 'publish-api', what: 'comes back' },
  { name: 'delivery-worker', what: 'stays away' },
  { name: 'delivery-worker', what: 'comes back' },
  { name: 'redrive', what: 'comes back' },
]

test.concurrent.each(CASES)('$name stops with exit code 0 while Redis $what', async ({ name, what }) => {
  const redis = await startRedis()
  const ports = { FANTAIL_PORT: '0', FANTAIL_OPS_PORT: '0' }
  const service = new ServiceProcess(name, name, {
    FANTAIL_MODE: 'local',
    FANTAIL_DATA_DIR: dataDir,
    REDIS_URL: redis.url,
    ...ports,
  })
  try {
    await service.start()
    await redis.kill()
    await waitFor(() => service.logLines().some(({ msg }) => msg === 'redis.down'))
    const stopped = service.stop()
    if (what === 'comes back') await redis.restart()
    // A process that does not end by itself within 18 s exits with code 1.
    expect([await stopped, service.logText()]).toEqual([0, expect.not.stringContaining('stop_timed_out')])
  } finally {
    await service.kill()
    await redis.stop()
  }
})
