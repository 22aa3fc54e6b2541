/** The delivery worker's process. */
import { readWorkerSettings } from '@fantail/config'
import { createHttpSender, openSigningPair } from '@fantail/delivery'
import { createTelemetry } from '@fantail/jobs'
import { openVault, runService } from '@fantail/runtime'
import { createDeliveryWorker } from './delivery-worker.ts'

await runService({
  name: 'delivery-worker',
  readSettings: readWorkerSettings,
  openFiles: async (settings, log) => ({
    signingPair: await openSigningPair(settings),
    vault: await openVault(settings, log),
  }),
  create: ({ settings, files, redisUrl, log, telemetry }) =>
    createDeliveryWorker({
      ...settings,
      ...files,
      dispatchQueues: settings.queues,
      protocolSettings: settings,
      redisUrl,
      travel: settings,
      letterShares: { perQueue: settings.deadLetterQueueShare, together: settings.deadLettersShare },
      sender: createHttpSender({
        timeoutMs: settings.attemptTimeoutMs,
        allowPrivate: settings.allowPrivateEndpoints,
        allow: settings.outboundAllow ?? [],
        deny: settings.outboundDeny ?? [],
        // Slots already bound the connections. A lower bound here would close and open connections all the time.
        connectionsMax: settings.attemptsMax,
      }),
      checkMasterKey: settings.mode === 'server' || settings.masterKey !== undefined,
      log,
      telemetry,
      bullTelemetry: telemetry.spans.on ? createTelemetry() : undefined,
    }),
})
