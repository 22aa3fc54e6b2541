/** The redrive process, which runs redrives and sweeps. */
import { readRedriveSettings } from '@fantail/config'
import { createTelemetry } from '@fantail/jobs'
import { runService } from '@fantail/runtime'
import { createRedriveService } from './redrive-service.ts'

await runService({
  name: 'redrive',
  readSettings: readRedriveSettings,
  openFiles: async () => undefined,
  usesMeters: true,
  create: ({ settings, redisUrl, log, telemetry: { metrics } }) =>
    createRedriveService({
      ...settings,
      redisUrl,
      travel: settings,
      log,
      telemetry: createTelemetry(),
      metrics,
    }),
})
