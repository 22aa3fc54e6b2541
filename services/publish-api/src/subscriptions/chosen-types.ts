/**
 * Compares the event types that a subscription chooses with the topic's catalogue. A subscription with a misspelt type
 * would get no message.
 */
import { choosesType, type SubscriptionRecord, type TopicRecord } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { invalid } from '../http/error-answers.ts'

interface Choice {
  eventTypes?: SubscriptionRecord['eventTypes'] | undefined
}

/**
 * Returns a warning about names and patterns that choose no type of the catalogue. Throws `validation_failed` for such
 * names if the topic refuses messages of unknown types. Patterns may be for types to come. A topic without a catalogue
 * knows no types, so nothing is said.
 */
export async function checkChosenTypes(
  { eventTypes }: Pick<ApiDeps, 'eventTypes'>,
  { arn, eventTypeCheck }: TopicRecord,
  { eventTypes: chosen }: Choice,
  before: Choice = {},
): Promise<string | undefined> {
  const fresh = (chosen ?? []).filter((pattern) => !before.eventTypes?.includes(pattern))
  if (fresh.length === 0) return undefined
  const names = await eventTypes.names(arn)
  const isUnknown = (pattern: string) => !names.some((name) => choosesType([pattern], name))
  const refuses = eventTypeCheck === 'refuse'
  const problems = (chosen ?? []).flatMap((pattern, i) =>
    refuses && fresh.includes(pattern) && !pattern.endsWith('*') && isUnknown(pattern)
      ? [{ path: `eventTypes[${i}]`, message: `names ${pattern}, which the topic does not have` }]
      : [],
  )
  if (problems.length > 0) throw invalid(problems)
  const unknown = names.length === 0 ? [] : fresh.filter(isUnknown)
  return unknown.length === 0 ? undefined : `eventTypes: the topic has no type ${unknown.join(', ')}`
}
