/** The layer of attempts: attempters of every protocol, and what they need. */
import {
  createAttempters,
  createFunctionCalls,
  type Links,
  QueueAdmission,
  QueueAppends,
} from '@fantail/delivery'
import { createPublisher } from '@fantail/jobs'
import {
  deliveryItemId,
  MobilePushState,
  openStreamWriter,
  PlatformApplications,
  shardBase,
  shardOf,
} from '@fantail/store'
import { AttemptMaker } from '../attempts/attempt-maker.ts'
import { CredentialGate } from '../attempts/credential-gate.ts'
import { BusyTargets } from '../capacity/busy-targets.ts'
import { realClock } from '../clocks/worker-travel.ts'
import { MobilePushEvents } from '../dead-letters/mobile-push-events.ts'
import { createMailTools, createMobilePushTools, createSmsTools } from './provider-tools.ts'
import type { Ground } from './worker-ground.ts'
import type { DeliveryWorkerOptions } from './worker-options.ts'

export type Attempting = ReturnType<typeof createAttempting>

export function createAttempting(ground: Ground, options: DeliveryWorkerOptions) {
  const { redis, queues, seals, servers, stores, snapshots, storageGuard, lanes, settling, now, log } = ground
  const { sender, vault, userAgent, protocolSettings, publicUrl, redisUrl, minReplicas = 0 } = options
  const { metrics } = options.telemetry
  const links: Links = { publicUrl }
  const { organizations, kmsKeys } = options
  const admission = new QueueAdmission({ queues, clock: now, organizations, kmsKeys })
  const mark = (queueArn: string) => servers.mark(shardBase(shardOf(queueArn)))
  const mail = createMailTools(redis, { metrics, log, now })
  const applications = new PlatformApplications(redis)
  const events = new MobilePushEvents({
    application: (arn) => applications.get(arn),
    snapshots,
    storageGuard,
    openPublisher: () => createPublisher({ url: redisUrl, queues: options.dispatchQueues, minReplicas }),
    publicUrl,
    seals,
    log,
    now,
  })
  const mobilePush = new MobilePushState(redis, {
    onDisabled: ({ arn }) => log.info({ endpointArn: arn }, 'push.endpoint_disabled'),
    publishUpdated: ({ arn: endpointArn }, application) =>
      events.publish(application, { type: 'EndpointUpdated', endpointArn }),
  })
  const sending = {
    sender,
    vault,
    clock: realClock(now),
    userAgent,
    ...(protocolSettings && { protocolSettings }),
  }
  const made = createAttempters({
    ...sending,
    openStreamWriter,
    appends: new QueueAppends({ queues, admission, mark }),
    mail,
    sms: createSmsTools(redis, { metrics, log, now }),
    mobilePush: createMobilePushTools(mobilePush),
    itemIdOf: deliveryItemId,
  })
  const attempters = { ...made, ...options.attempters }
  const credentials = new CredentialGate({ credentials: stores.credentials, attempters, lanes, log })
  settling.notifyBlocked((...blocked) => credentials.blocked(...blocked))
  return {
    links,
    admission,
    mail,
    events,
    attempters,
    credentials,
    attemptMaker: new AttemptMaker({ ...ground, attempters, credentials }),
    targets: new BusyTargets(),
    functions: createFunctionCalls(sending, protocolSettings ?? {}),
  }
}
