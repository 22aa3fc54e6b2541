/** The API's real publish route, but nothing is stored. Checks, ids, counts and answers are the same as in the API. */
import { ARN_DEFAULTS } from '@fantail/contracts'
import { type ApiDeps, createApp } from '@fantail/publish-api'
import { createMetrics, NO_SPANS } from '@fantail/telemetry'

const topic = { uid: 'bench', fanOut: 10, record: { fifo: false, attributes: {} }, messageBytesMax: 262_144 }

const deps = {
  settings: { arn: ARN_DEFAULTS, awsCredentials: undefined, publicUrl: undefined },
  topicCache: { known: (arn: string) => ({ ...topic, record: { ...topic.record, arn } }) },
  quotaWatch: { admit: () => undefined },
  storageGuard: { admit: () => undefined },
  seals: { all: false },
  publisher: { publish: async () => undefined },
  publishCounts: { add: () => undefined },
  live: { on: false },
  metrics: createMetrics(),
  spans: NO_SPANS,
  log: { isLevelEnabled: () => false },
  clock: () => Date.now(),
}

/** The publish route uses only these dependencies. Other routes are mounted but never called. */
export function unstoredApp(): ReturnType<typeof createApp> {
  return createApp(deps as unknown as ApiDeps)
}
