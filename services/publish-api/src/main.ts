/** The API's process. Its health is served at the API's own port. */
import { readApiSettings } from '@fantail/config'
import { openSigningPair } from '@fantail/delivery'
import { openAuditFile, openVault, runService } from '@fantail/runtime'
import { createPublishApi } from './server/publish-api.ts'
import { readTls } from './server/server.ts'

const name = 'publish-api'

await runService({
  name,
  readSettings: readApiSettings,
  openFiles: async (settings, log) => ({
    auditFile: openAuditFile({ service: name, path: settings.auditFile, log }),
    tls: await readTls(settings),
    signingPair: await openSigningPair(settings),
    vault: await openVault(settings, log),
  }),
  create: ({ files, ...given }) => createPublishApi({ ...given, ...files }),
})
