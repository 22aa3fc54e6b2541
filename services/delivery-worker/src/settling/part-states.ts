/**
 * Combines the states of several parts, which may be on different masters. The whole is down when the first part fails,
 * and up when the last one works again. If all parts reported to one state directly, one part's success would end
 * another's failure, and every try would write two log lines.
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
