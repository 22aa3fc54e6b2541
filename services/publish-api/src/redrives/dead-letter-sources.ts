/**
 * Which subscriptions and queues name a queue as their dead-letter queue. The store's index may name too many: a
 * topic's deletion and an expired confirmation remove subscriptions without it. So each is looked at, and what is gone
 * for good leaves the index; one whose policy names another queue is only left out, since that may be about to change.
 */
import { parseArn } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'

type Tools = Pick<ApiDeps, 'queues' | 'subscriptions'>

/** ARNs, as they are now: subscriptions and queues, and the topic whose own dead-letter queue it is. */
export async function deadLetterSources(deps: Tools, queueArn: string): Promise<string[]> {
  const [queue, named] = await Promise.all([deps.queues.get(queueArn), namedSources(deps, queueArn)])
  return [...(queue?.deadLettersOf === undefined ? [] : [queue.deadLettersOf]), ...named]
}

async function namedSources(deps: Tools, queueArn: string): Promise<string[]> {
  const sources = await deps.queues.sources(queueArn)
  const states = await Promise.all(sources.map((source) => stateOf(deps, source, queueArn)))
  const gone = sources.filter((_, index) => states[index] === 'gone')
  await Promise.all(gone.map((source) => deps.queues.removeSource(queueArn, source)))
  return sources.filter((_, index) => states[index] === 'source')
}

/** Queues keep their own entries right; only subscriptions are asked. */
async function stateOf(
  { subscriptions }: Tools,
  source: string,
  queueArn: string,
): Promise<'source' | 'other' | 'gone'> {
  const id = parseArn(source)?.subscriptionId
  if (id === undefined) return 'source'
  const record = await subscriptions.get(id)
  if (!record) return 'gone'
  return record.redrivePolicy?.deadLetterTargetArn === queueArn && !record.unsubscribed ? 'source' : 'other'
}
