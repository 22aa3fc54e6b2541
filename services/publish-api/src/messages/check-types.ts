/** Applies a topic's setting `eventTypeCheck` to messages that are published. */
import { nameOfArn, type Problem } from '@fantail/contracts'
import type { KnownTopic } from '../caches/topic-cache.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Finding } from '../event-types/event-type-checks.ts'
import type { GivenMessage } from './read-messages.ts'

type Tools = Pick<ApiDeps, 'eventTypeChecks' | 'metrics'>

export interface CheckedTypes {
  /** Why messages are refused, with their numbers in the batch. */
  refused: readonly Finding[]
  /** Why messages are accepted in spite of a problem. */
  warnings: readonly Finding[]
}

export const FINE: CheckedTypes = { refused: [], warnings: [] }

/** Returns a promise only if it must wait. */
export function checkTypes(
  tools: Tools,
  topic: KnownTopic,
  messages: readonly GivenMessage[],
): CheckedTypes | Promise<CheckedTypes> {
  if ((topic.record.eventTypeCheck ?? 'off') === 'off') return FINE
  const found = tools.eventTypeChecks.findings(topic, messages)
  return found instanceof Promise
    ? found.then((later) => judge(tools, topic, later))
    : judge(tools, topic, found)
}

function judge({ metrics }: Tools, { record }: KnownTopic, found: Finding[]): CheckedTypes {
  if (found.length === 0) return FINE
  const refuses = record.eventTypeCheck === 'refuse'
  const refused = refuses ? found.filter(({ isNotice }) => !isNotice) : []
  const warnings = refuses ? found.filter(({ isNotice }) => isNotice) : found
  const topic = nameOfArn(record.arn)
  for (const [result, { length }] of [
    ['refused', refused],
    ['warned', warnings],
  ] as const)
    if (length > 0) metrics.eventTypeFindings.of({ topic, result }).add(length)
  return { refused, warnings }
}

/** The problems of a native publish. */
export function refusalsOf({ refused }: CheckedTypes, batch: boolean): Problem[] {
  return refused.map(({ index, path, message }) => ({
    path: batch ? `messages[${index}].${path}` : path,
    message,
  }))
}

/** The warning about a message, for its receipt. */
export function warningOf({ warnings }: CheckedTypes, index: number): string | undefined {
  const own = warnings.filter((warning) => warning.index === index)
  return own.length === 0 ? undefined : own.map(({ path, message }) => `${path} ${message}`).join('; ')
}
