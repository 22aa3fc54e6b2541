/** The topic of a publish over the AWS protocols. */
import { FantailError } from '@fantail/contracts'
import type { KnownTopic } from '../../../caches/topic-cache.ts'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { admit } from '../../../messages/admit.ts'
import { noSuchTopic } from '../wire/refusals.ts'

/** The topic, if there is capacity for a message. Throws `NotFound` if there is no such topic. */
export function knownTopic(deps: ApiDeps, topicArn: string): Promise<KnownTopic> {
  return ofTopic(async () => admit(deps, topicArn))
}

/** Returns the result of `work`. Throws `NotFound` if it finds no topic. */
export async function ofTopic<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FantailError && error.code === 'not_found') throw noSuchTopic()
    throw error
  }
}
