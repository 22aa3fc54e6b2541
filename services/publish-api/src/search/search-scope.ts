/** The topics, queues and letters of a search by content: those that the query chooses and the caller may see. */
import { isVisible, needScope, type Target } from '@fantail/access'
import { FantailError, nameOfArn, resolveTopic } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { isNameVisible, type Names, readQueues, SEARCHED_NAMES_MAX } from '../names/names.ts'

interface Choice {
  topic?: string | undefined
  topicPrefix?: string | undefined
  /** A key, a colon and the value. */
  metadata?: string | undefined
}

interface Scope {
  isWanted(topicArn: string): boolean
  /** ARNs of the subscriptions with the metadata. undefined: all subscriptions are wanted. */
  subscriptions: ReadonlySet<string> | undefined
}

/** Throws `forbidden` if the caller must not see texts. */
export async function scopeOf(deps: ApiDeps, { query, caller }: Call<Choice>): Promise<Scope> {
  if (caller) needScope(caller, ['bodies'])
  const { topic, topicPrefix = '', metadata } = query
  const topicArn = topic === undefined ? undefined : resolveTopic(topic, deps.settings.arn)
  const chosen = metadata === undefined ? undefined : withMetadata(await deps.names.get(), metadata)
  const topics = chosen && new Set(chosen.flatMap(({ of }) => of))
  return {
    isWanted: (arn) =>
      isVisible(caller, arn) &&
      (topicArn === undefined || arn === topicArn) &&
      nameOfArn(arn).startsWith(topicPrefix) &&
      (!topics || topics.has(arn)),
    subscriptions: chosen && new Set(chosen.flatMap(({ found }) => found.arn ?? [])),
  }
}

function withMetadata({ subscriptions, isComplete }: Names, member: string) {
  if (!isComplete) {
    const most = `subscriptions can be chosen by metadata only if there are at most ${SEARCHED_NAMES_MAX}`
    throw FantailError.invalid('metadata', `cannot be searched here: ${most}; give topicPrefix instead`)
  }
  const colon = member.indexOf(':')
  const [key, value] = [member.slice(0, colon), member.slice(colon + 1)]
  return subscriptions.filter(({ metadata = {} }) => Object.hasOwn(metadata, key) && metadata[key] === value)
}

export interface SearchedQueue {
  arn: string
  /** A queue may have moved messages into it: it is the dead-letter queue of one, or the caller names it. */
  mayHaveMoved: boolean
}

/**
 * The queues that the caller sees, sorted, or only the one that it names. They are read again, because a first letter
 * makes a queue.
 */
export async function queuesOf(
  deps: Pick<ApiDeps, 'queues'>,
  caller: Call['caller'],
  asked: string | undefined,
): Promise<SearchedQueue[]> {
  const { names } = await readQueues(deps.queues)
  const targets = new Set(names.flatMap(({ target }) => target ?? []))
  const seen = names.filter((queue) => isNameVisible(caller, queue))
  const arns = seen.flatMap(({ found }) => found.arn ?? []).sort()
  const wanted = asked === undefined ? arns : arns.filter((arn) => arn === asked)
  return wanted.map((arn) => ({ arn, mayHaveMoved: asked !== undefined || targets.has(arn) }))
}

/** Asks the policy of each resource once. */
export function permissionFor(
  { mayDo }: Pick<Call, 'mayDo'>,
  action: Target['action'],
): (arn: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  return (arn) => {
    const answer = known.get(arn) ?? Promise.resolve(mayDo?.({ action, arn }) ?? true)
    known.set(arn, answer)
    return answer
  }
}
