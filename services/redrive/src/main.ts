/** The redrive process, which runs redrives, archives and sweeps. */
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readRedriveSettings } from '@fantail/config'
import { bodySealsOf } from '@fantail/delivery'
import { createTelemetry } from '@fantail/jobs'
import { openVault, runService } from '@fantail/runtime'
import { createRedriveService } from './redrive-service.ts'

await runService({
  name: 'redrive',
  readSettings: readRedriveSettings,
  openFiles: async (settings, log) => {
    const { mode, archive } = settings
    // An operator's folder must exist, because its disk may be away.
    if (mode === 'local' && archive?.startsWith('file:'))
      await mkdir(fileURLToPath(archive), { recursive: true, mode: 0o700 })
    return { vault: await openVault(settings, log) }
  },
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
