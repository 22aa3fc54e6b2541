/**
 * Request durations by route and class of status. A request is counted through an object that lives as long as the
 * process: an endpoint or an AWS operation. This object holds the series. A look-up by labels would build a key for
 * every request.
 */
import type { HistogramSeries, Metrics } from '@fantail/telemetry'

/** `method` is empty if no route has the path `path`. */
export interface CountedAs {
  method: string
  path: string
}

type Seconds = Metrics['httpRequestSeconds']

/** Requests without a route. Callers choose their paths, so each path must not get a series of its own. */
export const NO_ROUTE: CountedAs = { method: '', path: 'none' }

export class RequestTimes {
  readonly #seconds: Seconds
  readonly #routes = new Map<CountedAs, RouteTimes>()

  constructor(seconds: Seconds) {
    this.#seconds = seconds
  }

  of(counted: CountedAs): RouteTimes {
    const known = this.#routes.get(counted)
    if (known) return known
    const times = new RouteTimes(this.#seconds, counted)
    this.#routes.set(counted, times)
    return times
  }
}

class RouteTimes {
  readonly #seconds: Seconds
  readonly #counted: CountedAs
  /**
   * Series by the first digit of the status. A series is made when it is first used, so a scrape does not show series
   * without requests.
   */
  readonly #byClass: (HistogramSeries | undefined)[] = [1, 2, 3, 4, 5, 6].map(() => undefined)

  constructor(seconds: Seconds, counted: CountedAs) {
    this.#seconds = seconds
    this.#counted = counted
  }

  record(status: number, durationMs: number): void {
    const digit = Math.trunc(status / 100)
    const series = this.#byClass[digit] ?? this.#admit(digit)
    series.record(durationMs / 1_000)
  }

  #admit(digit: number): HistogramSeries {
    const { method, path: route } = this.#counted
    const series = this.#seconds.of({ method, route, status: `${digit}xx` })
    this.#byClass[digit] = series
    return series
  }
}
