/** Settings from the body of a PUT or PATCH of a topic, and the deletion of a topic by both APIs. */
import { setTimeout as delay } from 'node:timers/promises'
import { FantailError, isFifoName, type Problem, SNAPSHOT_AGE_MS_MAX } from '@fantail/contracts'
import type { TopicInput } from '@fantail/contracts/schemas/topic-schemas'
import { parseDeliveryPolicy } from '@fantail/policy'
import { TOPIC, type TopicSettings } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { invalid } from '../http/error-answers.ts'
import {
  archiveOf,
  removesStoredOnly,
  STORED_ONLY_ATTRIBUTES,
  storedOnlyProblem,
} from './stored-only-attributes.ts'

type Input = z.output<typeof TopicInput>

/**
 * The given members, with `null` as the default. Throws `validation_failed`, and `not_supported` if there is no master
 * key to seal messages with. Throws `conflict` if the topic exists and `fifo` asks for the other kind.
 */
export async function topicSettings(
  deps: Pick<ApiDeps, 'settings' | 'topics' | 'vault'>,
  arn: string,
  { fifo, deliveryPolicy, ...input }: Input,
): Promise<Partial<TopicSettings>> {
  await checkKind('topic', deps.topics, arn, fifo)
  checkSealing(deps, input)
  for (const name of ['contentBasedDeduplication', 'fifoThroughputScope'] as const)
    if (input[name] != null && !isFifoName(arn)) throw FantailError.invalid(name, 'is for FIFO topics only')
  if (typeof input.notices === 'string' && isFifoName(arn)) {
    throw FantailError.invalid('notices', 'is for standard topics only')
  }
  const attributes = input.attributes && storedOnlyAttributes(arn, input.attributes)
  const { ArchivePolicy } = input.attributes ?? {}
  if (ArchivePolicy !== undefined && input.archive === undefined) input.archive = archiveOf(ArchivePolicy)
  if (input.archive && deps.settings.archive === undefined) {
    throw FantailError.invalid(
      'archive',
      'needs a place for archives, which this server lacks (FANTAIL_ARCHIVE)',
    )
  }
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(
      given.map(([name, value]) => [name, value ?? TOPIC.settingDefaults[name as keyof TopicSettings]]),
    ),
    ...(deliveryPolicy !== undefined && { deliveryPolicy: parseDeliveryPolicy(deliveryPolicy) }),
    ...(attributes && { attributes }),
  }
}

/** Throws `validation_failed` with the problems of all attributes. */
function storedOnlyAttributes(arn: string, given: Record<string, string>): Record<string, string> {
  const problems = Object.entries(given).flatMap(([name, text]): Problem[] => {
    const path = `attributes.${name}`
    if (!STORED_ONLY_ATTRIBUTES.includes(name))
      return [{ path, message: `must be one of ${STORED_ONLY_ATTRIBUTES.join(', ')}` }]
    const message = storedOnlyProblem(arn, name, text)
    return message === undefined ? [] : [{ path, message }]
  })
  if (problems.length > 0) throw invalid(problems)
  return Object.fromEntries(Object.entries(given).filter(([name, text]) => !removesStoredOnly(name, text)))
}

interface Sealing {
  sealMessages?: boolean | null | undefined
  attributes?: Record<string, string> | null | undefined
}

/** Throws `not_supported`. */
export function checkSealing({ vault }: Pick<ApiDeps, 'vault'>, { sealMessages, attributes }: Sealing): void {
  const { KmsMasterKeyId, SqsManagedSseEnabled } = attributes ?? {}
  const asks = [
    ...(sealMessages ? ['sealMessages'] : []),
    ...(KmsMasterKeyId ? ['attributes.KmsMasterKeyId'] : []),
    ...(SqsManagedSseEnabled === 'true' ? ['attributes.SqsManagedSseEnabled'] : []),
  ]
  if (asks.length > 0 && !vault)
    throw new FantailError('not_supported', `${asks[0]} needs a master key (FANTAIL_MASTER_KEY)`)
}

/**
 * Resolves when no worker uses settings of before a change any more. Everything that is published after the answer is
 * then archived.
 */
export async function whenArchived(): Promise<void> {
  await delay(SNAPSHOT_AGE_MS_MAX + 10)
}

/** `given`: whether the request wants a FIFO topic or queue. The name decides it, and nothing changes it later. */
export async function checkKind(
  what: 'topic' | 'queue',
  store: { get(arn: string): Promise<unknown> },
  arn: string,
  given: boolean | null | undefined,
): Promise<void> {
  const fifo = given ?? isFifoName(arn)
  if (fifo === isFifoName(arn)) return
  const message = `must be ${!fifo}, as the name ${fifo ? 'does not end' : 'ends'} in .fifo`
  if ((await store.get(arn)) === null) throw FantailError.invalid('fifo', message)
  const details = [{ path: 'fifo', message }]
  throw new FantailError('conflict', `the kind of a ${what} cannot be changed`, { details })
}

/**
 * Deletes the topic, if it exists. Throws `wrong_state` if it has an archive, as SNS does. The queue that the topic
 * made for its dead letters is deleted with it, if it is empty. After a crash between the two, the sweep of queues
 * deletes it.
 */
export async function deleteTopic(
  {
    topics,
    topicCache,
    topicQueues,
    queues,
    log,
  }: Pick<ApiDeps, 'topics' | 'topicCache' | 'topicQueues' | 'queues' | 'log'>,
  topicArn: string,
  requestId: string,
): Promise<void> {
  if ((await topics.get(topicArn))?.archive) throw new FantailError('wrong_state', ARCHIVED)
  await topics.delete(topicArn)
  topicCache.forget(topicArn)
  log.info({ requestId, topicArn }, 'topic.deleted')
  const own = await topicQueues.find(topicArn)
  if (own?.exists) await queues.delete(own.queueArn, { emptyAndOf: topicArn })
}

const ARCHIVED = 'the topic has an archive: set `archive` to null first, which deletes it'
