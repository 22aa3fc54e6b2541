/** The API's real publish route, but nothing is stored. Checks, ids, counts and answers are the same as in the API. */
import { ARN_DEFAULTS } from '@fantail/contracts'
import { type ApiDeps, createApp, listen } from '@fantail/publish-api'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'
import { answer } from './ipc.ts'

const topic = { uid: 'bench', fanOut: 10, record: { fifo: false }, messageBytesMax: 262_144 }

const deps = {
  settings: { arn: ARN_DEFAULTS, awsCredentials: undefined, publicUrl: undefined },
  topicCache: { known: (arn: string) => ({ ...topic, record: { ...topic.record, arn } }) },
  storageGuard: { admit: () => undefined },
  publisher: { publish: async () => undefined },
  metrics: createMetrics(),
  spans: NO_SPANS,
  log: { isLevelEnabled: () => false },
  clock: () => Date.now(),
}

// The publish route uses only these dependencies. Other routes are mounted but never called.
const server = await listen(createApp(deps as unknown as ApiDeps), { host: '127.0.0.1', port: 0 })
answer({ port: () => server.port }, () => server.close())
