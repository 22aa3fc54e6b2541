/**
 * A scenario other than plain throughput. It starts its processes, measures, stops them, and returns rows for the table
 * in docs/performance.md. `npm run bench -- <name>` runs it.
 */
export interface Row {
  /** The figure's name in the table. */
  figure: string
  /** Median of the runs, or the single value. */
  value: number
  unit: string
  /** Smallest and largest value of the runs. */
  spread?: [min: number, max: number]
  /** The bound that the value must keep. A row without a bound is only informative. */
  atMost?: number
  atLeast?: number
  /** Conditions without which the figure could mislead. */
  note?: string
}

export interface ScenarioOptions {
  /** Makes the scenario smaller and shorter, to try it. Such figures do not belong in the table. */
  quick: boolean
  /** Progress, for people. */
  report: (text: string) => void
  /** Folder for CPU profiles of Fantail's processes. */
  profileDir?: string | undefined
  /** A commit to compare with. */
  against?: string | undefined
  /** Numbers of cores for the scenario scale. */
  cores?: number[] | undefined
}

export interface Scenario {
  name: string
  /** One line for the usage text. */
  summary: string
  run(options: ScenarioOptions): Promise<Row[]>
}
