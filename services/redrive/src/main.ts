/** The redrive process: settings in, Redis found, telemetry started, tasks and sweeps running; and down on SIGTERM. */
import { readRedriveSettings, resolveRedisUrl } from '@fantail/config'
import { createTelemetry } from '@fantail/jobs'
import { createLogger, createOpsServer, runService } from '@fantail/runtime'
import { createMetrics, startTelemetry } from '@fantail/telemetry'
import { createRedriveService } from './redrive-service.ts'

const NAME = 'redrive'
const log = createLogger({ service: NAME, level: process.env.FANTAIL_LOG_LEVEL })

await runService({
  name: NAME,
  log,
  start: async (signal) => {
    const settings = readRedriveSettings(process.env)
    const redisUrl = await resolveRedisUrl(settings, {
      signal,
      onWait: (path) => log.info({ path }, 'redis.awaited'),
    })
    const onProblem = (detail: string) => log.warn({ detail }, 'telemetry.failed')
    // It does nothing that SNS or SQS would count.
    const counts = createMetrics({ aws: false })
    const telemetry = await startTelemetry({ service: NAME, metrics: counts, onProblem })
    const service = createRedriveService({ redisUrl, log, telemetry: createTelemetry(), metrics: counts })
    const { host, opsPort: port } = settings
    const metrics = () => telemetry.renderMetrics()
    const ops = createOpsServer({ host, port, log, metrics, checks: { redis: () => service.redis.ping() } })
    await ops.start()
    log.info({ host, port: ops.port() }, 'ops.listening')
    await service.start()
    return { service, ops, telemetry }
  },
  stop: async ({ service, ops, telemetry }) => {
    await service.stop()
    await ops.stop()
    await telemetry.stop()
  },
})
