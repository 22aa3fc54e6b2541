/** While a row is open, all rows keep their places, so that nothing moves under the hand. */
import { useRef } from 'react'
import type { Lane } from '../../api/api-types.ts'

/** The open row also stays when its lane has left the list, because it was mended. */
export function useSteadyRows(lanes: Lane[], opened: string | undefined): Lane[] {
  const shown = useRef(lanes)
  if (opened === undefined) shown.current = lanes
  else shown.current = inPlaceOf(shown.current, lanes, opened)
  return shown.current
}

function inPlaceOf(before: Lane[], lanes: Lane[], opened: string): Lane[] {
  const fresh = new Map(lanes.map((lane) => [lane.subscriptionId, lane]))
  const known = before.flatMap((lane) => {
    const now = fresh.get(lane.subscriptionId)
    fresh.delete(lane.subscriptionId)
    return now ?? (lane.subscriptionId === opened ? lane : [])
  })
  return [...known, ...fresh.values()]
}
