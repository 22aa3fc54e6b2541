/** The layer of attempts that requests make: tests of endpoints, and questions to moved endpoints. */
import { createSigningPairs, EnvelopeSigning, SigningKey } from '@fantail/delivery'
import { createStateLog } from '@fantail/runtime'
import { MailState, MobilePushState, passingTime, type Redis, SigningKeys, VaultKeys } from '@fantail/store'
import { EndpointEvents } from '../../mobile-push/endpoint-events.ts'
import { MoveQuestions } from '../../subscriptions/moves/move-questions.ts'
import { createTestAttempters } from '../../subscriptions/test-attempt.ts'
import type { ApiGround } from './api-ground.ts'
import { type PublishApiOptions, publicUrlOf } from './api-options.ts'
import type { ApiStores } from './api-stores.ts'
import type { Reporting } from './reporting.ts'

export type Attempting = ReturnType<typeof createAttempting>

export function createAttempting(below: ApiGround & ApiStores & Reporting, options: PublishApiOptions) {
  const { redis, now } = below
  const { settings, log, telemetry } = options
  const endpointEvents = new EndpointEvents({ ...below, spans: telemetry.spans, clock: now, settings, log })
  const attempters = createTestAttempters({
    sender: below.sender,
    queues: below.queues,
    organizations: settings.organizations,
    kmsKeys: settings.kmsKeys,
    vault: options.vault,
    clock: () => passingTime.realOf(now()),
    userAgent: settings.userAgent,
    protocolSettings: settings,
    sms: below.sms,
    mobilePush: new MobilePushState(redis, {
      onDisabled: ({ arn }) => log.info({ endpointArn: arn }, 'push.endpoint_disabled'),
      publishUpdated: ({ arn: endpointArn }, application) =>
        endpointEvents.announce({
          type: 'EndpointUpdated',
          application,
          endpointArn,
          publicUrl: publicUrlOf(settings),
          requestId: 'test',
        }),
    }),
    mail: new MailState(redis, {
      clock: now,
      onProblem: (error) => log.warn({ err: error }, 'mail.suppress_failed'),
    }),
  })
  const signing = createSigning(redis, options)
  return {
    attempters,
    ...signing,
    moveQuestions: new MoveQuestions({ ...below, ...signing, attempters, clock: now, settings, log }),
  }
}

function createSigning(redis: Redis, { signingPair: pair, settings, vault, log }: PublishApiOptions) {
  const certificates = new SigningKeys(redis)
  const onState = createStateLog({ log, what: 'signing', initial: 'up' })
  // A key that local mode has made seals nothing, because a worker with another data folder could not open it.
  const own = settings.masterKey && vault
  const pairs = createSigningPairs(certificates, {
    vault: own,
    beforeSealing: async () => own && new VaultKeys(redis).add(own.keyId),
    onUnsealed: () => log.warn({ command: 'fantail secrets reseal' }, 'signing.unsealed'),
  })
  return { certificates, signing: new EnvelopeSigning(new SigningKey({ pairs, pair, onState })) }
}
