/** The API's process. Its health is served at the API's own port. */
import { readApiSettings } from '@fantail/config'
import { openSigningPair } from '@fantail/delivery'
import { openVault, runService } from '@fantail/runtime'
import { createPublishApi } from './server/publish-api.ts'
import { readTls } from './server/server.ts'

await runService({
  name: 'publish-api',
  readSettings: readApiSettings,
  openFiles: async (settings) => ({
    tls: await readTls(settings),
    signingPair: await openSigningPair(settings),
    vault: await openVault(settings),
  }),
  create: ({ files, ...given }) => createPublishApi({ ...given, ...files }),
})
