/**
 * Makes the topics through which direct messages go (contracts: direct-names.ts). The first message for a lane makes a
 * topic with one subscription. A topic without the subscription counts as unfinished. So if the process crashes in
 * between, the next message completes it. No message is stored before that.
 */
import { createHash } from 'node:crypto'
import { areNumbers, DIRECT_LANES, directTopicArn } from '@fantail/contracts'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { admit } from '../messages/admit.ts'
import { SETTING_DEFAULTS } from '../subscriptions/subscription-settings.ts'
import { type DirectTarget, TargetRefusal } from './direct-targets.ts'

/** The parts of the API that find or make a direct topic. */
export type TopicTools = Pick<
  ApiDeps,
  'topics' | 'topicCache' | 'subscriptions' | 'platformApplications' | 'storageGuard'
>

/** The topic for messages to the target. Throws if there is no capacity for a message. */
export async function directTopic(deps: TopicTools, target: DirectTarget): Promise<KnownTopic> {
  const arn = directTopicArn(target.owner, laneOf(target.laneKey))
  const known = deps.topicCache.known(arn) ?? (await deps.topicCache.find(arn))
  if (!known || known.fanOut === 0) await makeTopic(deps, arn, target)
  return admit(deps, arn)
}

/** Deletes the topics of a platform application after the application itself. Waiting messages are discarded. */
export async function deleteDirectTopics(
  { topics, topicCache }: Pick<ApiDeps, 'topics' | 'topicCache'>,
  owner: string,
): Promise<void> {
  const arns = Array.from({ length: DIRECT_LANES }, (_, lane) => directTopicArn(owner, lane))
  await Promise.all(arns.map((arn) => topics.delete(arn)))
  for (const arn of arns) topicCache.forget(arn)
}

function laneOf(key: string): number {
  return createHash('sha1').update(key).digest().readUInt32BE(0) % DIRECT_LANES
}

async function makeTopic(deps: TopicTools, topicArn: string, target: DirectTarget): Promise<void> {
  const { owner, protocol, sharedEndpoint: endpoint } = target
  await deps.topics.create(topicArn, {})
  const settings = { ...SETTING_DEFAULTS, confirmation: 'none' as const }
  await deps.subscriptions.create({ topicArn, protocol, endpoint, ...settings })
  deps.topicCache.forget(topicArn)
  if (areNumbers(owner) || (await deps.platformApplications.get(owner))) return
  // The application was deleted meanwhile. Delete this new topic too, because nothing else would.
  await deleteDirectTopics(deps, owner)
  throw new TargetRefusal('noEndpoint', 'No endpoint found for the target arn specified')
}
