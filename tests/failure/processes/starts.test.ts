/** Redis goes down while a service starts. *-start.test.ts of the services test every request of every start. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedisOutage } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { beginFault, LONG, secondsSince } from '../../harness/ledgers/fault-rows.ts'
import { Ledger } from '../../harness/ledgers/ledger.ts'
import { useReceiver } from '../../harness/receivers/use-receiver.ts'
import { type ServiceName, ServiceProcess } from '../../harness/services/service-process.ts'
import { useStack } from '../../harness/services/stack.ts'

const SERVICES: ServiceName[] = ['publish-api', 'delivery-worker', 'redrive']
/** The request at which Redis goes down. A service makes 15 to 35 before it is ready. */
const AT = LONG ? [1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34] : [6]
const AWAY_MS = 1_000

const stack = useStack()
const receiver = useReceiver()

test('a service whose Redis goes away while it starts is ready soon after', {
  timeout: 600_000,
}, async () => {
  const row = beginFault('starts')
  const subscriptions = { '/starts': {} }
  const ledger = await Ledger.open({ stack: stack(), receiver: receiver(), topic: 'starts', subscriptions })
  const dataDir = await mkdtemp(join(tmpdir(), 'fantail-data-'))
  let slowest = 0
  const startThrough = async (name: ServiceName, at: number) => {
    const outage = await startRedisOutage(stack().redis.port, { at, forMs: AWAY_MS })
    const service = new ServiceProcess(name, `${name}-${at}`, {
      FANTAIL_PORT: '0',
      FANTAIL_OPS_PORT: '0',
      FANTAIL_DATA_DIR: dataDir,
      REDIS_URL: `redis://127.0.0.1:${outage.port}`,
    })
    const startedAt = performance.now()
    try {
      await service.start()
      slowest = Math.max(slowest, secondsSince(startedAt))
      expect(await ledger.publish(`${name} ${at}`)).toBe('accepted')
    } finally {
      await service.stop()
      await outage.close()
    }
  }
  try {
    for (const at of AT) await Promise.all(SERVICES.map((name) => startThrough(name, at)))
    const account = await ledger.whenSettled()
    row.report({ ...account, messages: account.accepted, recoverySeconds: slowest })
    expect(account).toMatchObject({ lost: 0, unknown: 0, refused: 0 })
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
