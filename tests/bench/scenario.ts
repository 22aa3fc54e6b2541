/**
 * A scenario beyond plain throughput: it starts what it needs, measures, ends it, and answers rows for the table in
 * docs/performance.md. `npm run bench -- <name>` runs it.
 */
export interface Row {
  /** The figure's name in the table. */
  figure: string
  /** Median of the runs, or the one value there is. */
  value: number
  unit: string
  /** Smallest and largest of the runs. */
  spread?: [min: number, max: number]
  /** The bar to reach. A row without one is informative. */
  atMost?: number
  atLeast?: number
  /** Under what conditions, where the figure alone could mislead. */
  note?: string
}

export interface ScenarioOptions {
  /** Smaller and shorter, to see that it works; its figures are not for the table. */
  quick: boolean
  /** Progress, for people. */
  report: (text: string) => void
  /** Folder for CPU profiles of Fantail's processes. */
  profileDir?: string | undefined
}

export interface Scenario {
  name: string
  /** One line for the usage text. */
  summary: string
  run(options: ScenarioOptions): Promise<Row[]>
}
