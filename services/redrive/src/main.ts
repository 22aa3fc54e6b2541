/** The redrive process: settings in, Redis found, telemetry started, tasks and sweeps running; and down on SIGTERM. */
import { createOwnHosts, readRedriveSettings } from '@fantail/config'
import { createTelemetry } from '@fantail/jobs'
import { beginService, createLogger, createOpsServer, createStartCheck, runService } from '@fantail/runtime'
import { ping, refuseWrong } from '@fantail/store'
import { createRedriveService } from './redrive-service.ts'

const NAME = 'redrive'
const log = createLogger({ service: NAME, level: process.env.FANTAIL_LOG_LEVEL })

await runService({
  name: NAME,
  log,
  start: async (signal) => {
    const settings = readRedriveSettings(process.env)
    // It does nothing that SNS or SQS would count.
    const awsMetrics = false
    const { redisUrl, telemetry } = await beginService({ name: NAME, log, settings, awsMetrics, signal })
    await refuseWrong(redisUrl)
    const { metrics } = telemetry
    const { minReplicas } = settings
    const service = createRedriveService({
      redisUrl,
      minReplicas,
      log,
      telemetry: createTelemetry(),
      metrics,
    })
    const startCheck = createStartCheck()
    const ops = createOpsServer({
      host: settings.host,
      port: settings.opsPort,
      log,
      metrics: () => telemetry.renderMetrics(),
      ownHosts: createOwnHosts(settings),
      checks: { redis: () => ping(service.redis), start: startCheck.check },
    })
    await ops.start()
    log.info({ host: settings.host, port: ops.port() }, 'ops.listening')
    await service.start(signal)
    startCheck.done()
    return { service, ops, telemetry }
  },
  stop: async ({ service, ops, telemetry }) => {
    await service.stop()
    await ops.stop()
    await telemetry.stop()
  },
})
