/**
 * One state of several parts, which may be on different masters: down with the first that is, up with the last. If all
 * parts reported to one state directly, each part's success would end what another's failure began, and every try would
 * leave two log lines.
 */
import type { ReportState, State } from '@fantail/runtime'

export type ReportPart = (part: number | string, state: State, error?: unknown) => void

export function reportParts(report: ReportState): ReportPart {
  const down = new Set<number | string>()
  return (part, state, error) => {
    if (state === 'up') down.delete(part)
    else down.add(part)
    report(down.size === 0 ? 'up' : 'down', error)
  }
}
