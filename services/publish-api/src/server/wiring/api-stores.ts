/** The layer of stores, and the caches in front of them. */
import {
  AttemptStore,
  archiveFigures,
  BulkTasks,
  ConfirmationLimits,
  Counts,
  Erasure,
  EventTypes,
  FifoLog,
  Idempotency,
  IsolatedMessages,
  KeptMessages,
  KeptSearch,
  Lanes,
  LinkKey,
  OutcomeLog,
  OutcomeSearch,
  PlatformApplications,
  PlatformEndpoints,
  Redrives,
  SandboxNumbers,
  SmsState,
  Subscriptions,
  Suppressions,
  Topics,
} from '@fantail/store'
import { TopicCache } from '../../caches/topic-cache.ts'
import { EventTypeChecks } from '../../event-types/event-type-checks.ts'
import { SchemaCompiler } from '../../event-types/schema-compiler.ts'
import type { ApiGround } from './api-ground.ts'
import type { PublishApiOptions } from './api-options.ts'
import { createCapacity } from './capacity.ts'
import { createQueueStores } from './queue-stores.ts'

export type ApiStores = ReturnType<typeof createApiStores>

export function createApiStores(ground: ApiGround, options: PublishApiOptions) {
  const { connections, redis, seals, now, onUnreadable } = ground
  const { settings, log } = options
  const { acks } = connections
  const capacity = createCapacity(redis, options)
  const { storageGuard: growth, quotas } = capacity
  const topics = new Topics(redis, { defaults: settings.arn, growth, quotas })
  const queueStores = createQueueStores(ground, capacity, options)
  const subscriptions = new Subscriptions(redis, { onUnreadable, growth, quotas })
  const lanes = new Lanes(redis, acks)
  const eventTypes = new EventTypes(redis, { growth, onUnreadable })
  const schemaCompiler = new SchemaCompiler()
  return {
    ...capacity,
    ...queueStores,
    topics,
    archiveFigures: (topic: { arn: string; uid: string }) => archiveFigures(redis, topic),
    topicCache: new TopicCache({ topics }),
    eventTypes,
    schemaCompiler,
    eventTypeChecks: new EventTypeChecks({ eventTypes, compiler: schemaCompiler, log }),
    subscriptions,
    confirmationLimits: new ConfirmationLimits(redis, { growth }),
    suppressions: new Suppressions(redis, { growth }),
    platformApplications: new PlatformApplications(redis, { growth }),
    platformEndpoints: new PlatformEndpoints(redis, { growth }),
    linkKey: new LinkKey(redis),
    sms: new SmsState(redis, {
      growth,
      clock: now,
      onProblem: (error) => log.warn({ err: error }, 'sms.write_failed'),
    }),
    sandboxNumbers: new SandboxNumbers(redis, { growth }),
    lanes,
    redrives: new Redrives(redis),
    bulk: new BulkTasks(redis, { growth, now }),
    erasure: new Erasure(redis),
    outcomes: new OutcomeLog(redis, ground.snapshots, lanes, {
      queues: settings.queues,
      entriesMax: settings.logMessages,
      unsent: { quarantine: queueStores.quarantine, isolated: new IsolatedMessages(redis) },
    }),
    attempts: new AttemptStore(redis, seals),
    outcomeSearch: new OutcomeSearch(redis, (id) => subscriptions.topicOf(id)),
    counts: new Counts(redis),
    fifoLog: new FifoLog(redis, { acks }),
    idempotency: new Idempotency(redis, { acks, queues: settings.queues }),
    kept: new KeptMessages(redis),
    keptSearch: new KeptSearch(redis, seals),
  }
}
