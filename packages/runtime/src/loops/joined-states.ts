/**
 * Joins the states of several members, such as shards on different masters, into one. The whole is down when the first
 * member fails, and up when the last one works again. If all members reported to one state directly, one's success
 * would end another's failure, and every try would write two log lines.
 */
import type { ReportState, State } from './state-log.ts'

export type ReportMember = (member: number | string, state: State, error?: unknown) => void

export function joinStates(report: ReportState): ReportMember {
  const down = new Set<number | string>()
  return (member, state, error) => {
    if (state === 'up') down.delete(member)
    else down.add(member)
    report(down.size === 0 ? 'up' : 'down', error)
  }
}
