/** The redrive process, which runs redrives and sweeps. */
import { readRedriveSettings } from '@fantail/config'
import { bodySealsOf } from '@fantail/delivery'
import { createTelemetry } from '@fantail/jobs'
import { openVault, runService } from '@fantail/runtime'
import { createRedriveService } from './redrive-service.ts'

await runService({
  name: 'redrive',
  readSettings: readRedriveSettings,
  openFiles: async (settings) => ({ vault: await openVault(settings) }),
  usesMeters: true,
  create: ({ settings, files, redisUrl, log, telemetry: { metrics } }) =>
    createRedriveService({
      ...settings,
      seals: bodySealsOf(files.vault),
      redisUrl,
      travel: settings,
      log,
      telemetry: createTelemetry(),
      metrics,
    }),
})
