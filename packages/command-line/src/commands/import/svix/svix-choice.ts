/** The messages that an endpoint of Svix gets: its event types and channels. */
import { EVENT_TYPES_CHOSEN_MAX, eventTypeProblem } from '@fantail/contracts'
import type { Findings } from '../plan/findings.ts'
import type { SvixEndpoint } from './svix-source.ts'

/** The object that findings are about, and where they go. */
export interface About {
  findings: Findings
  subject: string
}

/** Values of a filter policy. Past it: the API refuses the policy. */
const FILTER_VALUES_MAX = 150

interface Chosen {
  eventTypes: string[] | null
  filterPolicy: Record<string, string[]> | null
}

/** undefined: it cannot come over, and a finding says why. */
export function chosenOf(
  { eventTypes, filterTypes, channels }: SvixEndpoint,
  { findings, subject }: About,
): Chosen | undefined {
  const named = eventTypes ?? filterTypes ?? []
  const types = named.filter((name) => eventTypeProblem(name) === undefined)
  const lose = (text: string) => findings.add({ matter: 'messages', what: 'lost', text }, subject)
  if (types.length < named.length) lose('chosen event types whose names are not allowed here')
  if (named.length > 0 && types.length === 0) return undefined
  const isLong = types.length > EVENT_TYPES_CHOSEN_MAX
  if ((isLong ? types.length : 1) * (channels?.length || 1) > FILTER_VALUES_MAX) {
    lose(`endpoints that choose more than ${FILTER_VALUES_MAX} event types and channels`)
    return undefined
  }
  if (channels?.length)
    findings.add(
      {
        matter: 'messages',
        what: 'changed',
        text: 'channels are the attribute `channels` of a message',
        remedy: 'publish them as `"attributes": {"channels": ["…"]}`',
      },
      subject,
    )
  const filterPolicy = { ...(channels?.length && { channels }), ...(isLong && { eventType: types }) }
  return {
    eventTypes: isLong || types.length === 0 ? null : types,
    filterPolicy: Object.keys(filterPolicy).length > 0 ? filterPolicy : null,
  }
}
