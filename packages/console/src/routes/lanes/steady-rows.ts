/** While a row is open, all rows keep their places, so that nothing moves under the hand. */
import { useRef } from 'react'
import type { Lane, Subscription } from '../../api/api-types.ts'

export interface LaneRow extends Lane {
  /** The lane is no longer in the list. Its figures are those of the panel, or unknown. */
  hasLeft: boolean
}

/** The open row has the figures of the panel, and other rows those of the list. */
export function useSteadyRows(lanes: Lane[], opened: Subscription | undefined, isOpen: boolean): LaneRow[] {
  const shown = useRef<LaneRow[]>([])
  const rows = rowsInPlace(isOpen ? shown.current : [], lanes)
  shown.current = rows
  return rows.map((row) => (opened && row.subscriptionId === opened.id ? asInPanel(row, opened) : row))
}

export function rowsInPlace(before: readonly LaneRow[], lanes: readonly Lane[]): LaneRow[] {
  const fresh = new Map(lanes.map((lane) => [lane.subscriptionId, lane]))
  const known = before.map((row) => {
    const now = fresh.get(row.subscriptionId)
    fresh.delete(row.subscriptionId)
    return now ? { ...now, hasLeft: false } : { ...row, hasLeft: true }
  })
  return [...known, ...[...fresh.values()].map((lane) => ({ ...lane, hasLeft: false }))]
}

function asInPanel(row: LaneRow, { name, endpoint, status, lane, verdict }: Subscription): LaneRow {
  return { ...row, name, endpoint, status, lane, verdict }
}
