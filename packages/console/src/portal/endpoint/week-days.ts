/** A week's figures by hour, added up by day in the customer's own time zone. */

interface WeekFigures {
  at: readonly string[]
  delivered: readonly number[]
  failed: readonly number[]
  deadLettered: readonly number[]
  meanMs: readonly (number | null)[]
}

export interface DayFigures {
  /** Epoch ms of its first hour. */
  at: number
  delivered: number
  failed: number
  deadLettered: number
  /** null: nothing was delivered. */
  meanMs: number | null
}

/** Oldest day first. The first one may have begun before the figures do. */
export function daysOf({ at, delivered, failed, deadLettered, meanMs }: WeekFigures): DayFigures[] {
  const hours = at.map((time, hour) => ({
    at: Date.parse(time),
    delivered: delivered[hour] ?? 0,
    failed: failed[hour] ?? 0,
    deadLettered: deadLettered[hour] ?? 0,
    meanMs: meanMs[hour] ?? null,
  }))
  const days = Map.groupBy(hours, (hour) => new Date(hour.at).toDateString())
  return [...days.values()].map(totalOf)
}

export function totalOf(parts: readonly DayFigures[]): DayFigures {
  const sum = (count: (part: DayFigures) => number) => parts.reduce((total, part) => total + count(part), 0)
  const timed = parts.filter(({ meanMs }) => meanMs !== null)
  const deliveredTimed = timed.reduce((total, { delivered }) => total + delivered, 0)
  const timeMs = timed.reduce((total, { delivered, meanMs }) => total + delivered * (meanMs ?? 0), 0)
  return {
    at: parts[0]?.at ?? 0,
    delivered: sum(({ delivered }) => delivered),
    failed: sum(({ failed }) => failed),
    deadLettered: sum(({ deadLettered }) => deadLettered),
    meanMs: deliveredTimed === 0 ? null : timeMs / deliveredTimed,
  }
}
