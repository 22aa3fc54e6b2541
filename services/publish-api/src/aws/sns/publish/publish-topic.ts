/** The topic of a publish over the wire. */
import { FantailError } from '@fantail/contracts'
import type { ApiDeps } from '../../../deps.ts'
import { admit } from '../../../messages/admit.ts'
import type { KnownTopic } from '../../../topics/topic-cache.ts'
import { noSuchTopic } from '../refusals.ts'

/** Where there is room for what it is sent; `NotFound` without it. */
export function knownTopic(deps: ApiDeps, topicArn: string): Promise<KnownTopic> {
  return ofTopic(async () => admit(deps, topicArn))
}

/** What `work` comes to; `NotFound` where it finds no topic. */
export async function ofTopic<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FantailError && error.code === 'not_found') throw noSuchTopic()
    throw error
  }
}
