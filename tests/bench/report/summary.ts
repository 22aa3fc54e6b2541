/** Reduces rounds to one figure each: medians and their spread, and how the contestants compare. */
import type { Name } from '../contest/contestant.ts'
import type { Measurement } from '../contest/measure.ts'

/** A scenario's rounds, by contestant. */
export type Rounds = Partial<Record<Name, Measurement[]>>

export interface Figure {
  median: number
  min: number
  max: number
}

export function figureOf(values: number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN
  return { median: (lower + upper) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

/**
 * The median, and an interval that has the true median in 95 of 100 runs. Its bounds are values of the sample, by the
 * binomial distribution. Fewer than six values have no such interval, and the result is their whole range.
 */
export function intervalOf(values: number[]): Figure {
  const sorted = [...values].sort((a, b) => a - b)
  const { length } = sorted
  let outside = 0
  let chance = 2 ** -length
  for (let sum = chance; sum <= 0.025; sum += chance) {
    outside++
    chance *= (length - outside + 1) / outside
  }
  const first = Math.max(0, outside - 1)
  const { median } = figureOf(sorted)
  return { median, min: sorted[first] ?? Number.NaN, max: sorted[length - 1 - first] ?? Number.NaN }
}

/** The note of a row whose figure is an `intervalOf` ratios of pairs. */
export function noteOfPairs({ length }: readonly unknown[]): string {
  return `in brackets: 95 % interval of the median, ${length} pairs`
}

type Measured =
  | 'deliveriesPerSecond'
  | 'publishesPerSecond'
  | 'publishP50Ms'
  | 'publishP99Ms'
  | 'drainSeconds'

export function figure(rounds: Measurement[] | undefined, of: Measured): Figure {
  return figureOf((rounds ?? []).map((round) => round[of]))
}

/** CPU per delivery of the contestant's own processes and of its Redis. */
export function cpuOf(rounds: Measurement[] | undefined): { services: Figure; redis: Figure } {
  const split = (rounds ?? []).map(({ cpuMicros: { redis = 0, ...services } }) => ({
    services: Object.values(services).reduce((sum, micros) => sum + micros, 0),
    redis,
  }))
  return {
    services: figureOf(split.map(({ services }) => services)),
    redis: figureOf(split.map(({ redis }) => redis)),
  }
}

export function sum(rounds: Measurement[] | undefined, of: 'lost' | 'duplicates' | 'refused'): number {
  return (rounds ?? []).reduce((total, round) => total + round[of], 0)
}

/** The ratio of the printed medians. */
export function ratio(rounds: Rounds, over: Name): number {
  const of = (name: Name) => figure(rounds[name], 'deliveriesPerSecond').median
  return of('fantail') / of(over)
}

/**
 * Fantail : the other one, by `of`, or else by deliveries per second. The ratio is computed round by round, because a
 * disturbance of the machine usually affects both sides of a round.
 */
export function ratios(
  { fantail = [], ...others }: Rounds,
  over: Exclude<Name, 'fantail'>,
  of = ({ deliveriesPerSecond }: Measurement) => deliveriesPerSecond,
): number[] {
  return fantail.flatMap((measured, round) => {
    const other = others[over]?.[round]
    return other ? [of(measured) / of(other)] : []
  })
}
