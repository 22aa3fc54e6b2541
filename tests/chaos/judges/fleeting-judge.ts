/**
 * Judges the topic that is deleted and created again. Each creation is an incarnation. A message goes to the topic that
 * has the name when the message is dispatched. So it arrives at the incarnation to which it was published, or at a
 * later one. If its incarnation was deleted first, it may arrive nowhere. The last incarnation is never deleted, so all
 * its messages arrive. Changes do not wait for replicas (docs/scaling.md), so a failover may restore an earlier
 * incarnation.
 */
import type { FleetingPublish } from '../inputs/publishing.ts'

interface FleetingFound {
  publishes: FleetingPublish[]
  last: number
  replicated: boolean
  /** Requests that were answered 2xx: the number in the path, and the text. */
  arrived: { incarnation: number; text: string }[]
}

export function judgeFleeting({ publishes, last, replicated, arrived }: FleetingFound): string[] {
  const byText = Map.groupBy(arrived, ({ text }) => text)
  return publishes.flatMap(({ text, fate, before, after }) => {
    const at = [...new Set((byText.get(text) ?? []).map(({ incarnation }) => incarnation))]
    const strayed = at.filter((incarnation) => !replicated && before !== undefined && incarnation < before)
    const isLost = fate === 'accepted' && before === last && after === last && at.length === 0
    return [
      ...(fate === 'refused' && at.length > 0 ? [`fleeting: ${text} was refused, and arrived`] : []),
      ...(strayed.length > 0
        ? [`fleeting: ${text} of incarnation ${before} arrived at ${strayed.join(', ')}`]
        : []),
      ...(isLost ? [`fleeting: ${text} of the last incarnation is lost`] : []),
    ]
  })
}
