/** The delivery worker's process: settings in, Redis found, telemetry started, the worker up; and down on SIGTERM. */
import { createOwnHosts, readWorkerSettings } from '@fantail/config'
import { createHttpSender, readSigningPair } from '@fantail/delivery'
import { createTelemetry } from '@fantail/jobs'
import {
  beginService,
  createLogger,
  createOpsServer,
  createStartCheck,
  openVault,
  runService,
} from '@fantail/runtime'
import { ping, refuseWrong } from '@fantail/store'
import { createDeliveryWorker } from './delivery-worker.ts'

const NAME = 'delivery-worker'
const log = createLogger({ service: NAME, level: process.env.FANTAIL_LOG_LEVEL })

await runService({
  name: NAME,
  log,
  start: async (signal) => {
    const settings = readWorkerSettings(process.env)
    const { signingKeyFile: key, signingCertFile: certificate } = settings
    const signingPair = key && certificate ? await readSigningPair({ key, certificate }) : undefined
    const { awsMetrics } = settings
    const { redisUrl, telemetry } = await beginService({ name: NAME, log, settings, awsMetrics, signal })
    await refuseWrong(redisUrl)
    const sender = createHttpSender({
      timeoutMs: settings.attemptTimeoutMs,
      allowPrivate: settings.allowPrivateEndpoints,
      allow: settings.outboundAllow ?? [],
      deny: settings.outboundDeny ?? [],
      // The slots are the cap; a lower one would only open and close connections beyond it again and again.
      connectionsMax: settings.attemptsMax,
    })
    const vault = await openVault(settings)
    const worker = createDeliveryWorker({
      ...settings,
      redisUrl,
      signingPair,
      sender,
      vault,
      checkMasterKey: settings.mode === 'server' || settings.masterKey !== undefined,
      log,
      telemetry,
      bullTelemetry: telemetry.spans.on ? createTelemetry() : undefined,
    })
    const startCheck = createStartCheck()
    const ops = createOpsServer({
      host: settings.host,
      port: settings.opsPort,
      log,
      metrics: () => telemetry.renderMetrics(),
      ownHosts: createOwnHosts(settings),
      checks: { redis: () => ping(worker.redis), start: startCheck.check },
    })
    await ops.start()
    log.info({ host: settings.host, port: ops.port() }, 'ops.listening')
    await worker.start(signal)
    startCheck.done()
    return { worker, ops, telemetry }
  },
  stop: async ({ worker, ops, telemetry }) => {
    await worker.stop()
    await ops.stop()
    await telemetry.stop()
  },
})
