/** A service for tests. It consists only of its ServiceDescription. */
import { readRedriveSettings } from '@fantail/config'
import { runService } from './run-service.ts'
import { openConnections } from './service-connections.ts'
import { createStartSteps } from './start-steps.ts'

await runService({
  name: 'made-up',
  readSettings: readRedriveSettings,
  openFiles: async () => 'a file',
  create({ files, redisUrl, log }) {
    const connections = openConnections({ redisUrl, name: 'fantail-made-up', minReplicas: 0, log })
    return {
      redis: connections.redis,
      async start(signal, checkData) {
        log.info({ files }, 'begun')
        await connections.whenChecked(signal)
        await createStartSteps({ log, signal })(checkData)
      },
      async stop() {
        log.info({}, 'drained')
        connections.disconnect()
      },
    }
  },
})
