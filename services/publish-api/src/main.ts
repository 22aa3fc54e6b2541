/** The API process: settings in, Redis found, telemetry started, the API up; and down again on SIGTERM. */
import { readApiSettings } from '@fantail/config'
import { readSigningPair } from '@fantail/delivery'
import { beginService, createLogger, openVault, runService } from '@fantail/runtime'
import { refuseWrong } from '@fantail/store'
import { startPublishApi } from './server/publish-api.ts'
import { readTls } from './server/tls.ts'

const NAME = 'publish-api'
const log = createLogger({ service: NAME, level: process.env.FANTAIL_LOG_LEVEL })

await runService({
  name: NAME,
  log,
  start: async (signal, fail) => {
    const settings = readApiSettings(process.env)
    const tls = await readTls(settings)
    const { signingKeyFile: key, signingCertFile: certificate } = settings
    const signingPair = key && certificate ? await readSigningPair({ key, certificate }) : undefined
    const vault = await openVault(settings)
    const { awsMetrics } = settings
    const { redisUrl, telemetry } = await beginService({ name: NAME, log, settings, awsMetrics, signal })
    await refuseWrong(redisUrl)
    const api = await startPublishApi({ settings, redisUrl, log, telemetry, tls, signingPair, vault, fail })
    log.info({ host: settings.host, port: api.port }, 'api.listening')
    return { api, telemetry }
  },
  stop: async ({ api, telemetry }) => {
    await api.stop()
    await telemetry.stop()
  },
})
