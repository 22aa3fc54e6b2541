/**
 * Throughput of `fantail all --workers auto` on 1, 2, 4 … cores, and the price of a second process of a kind. Each lap
 * is a line of a raw log.
 */
import { appendFileSync, mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { countsFor } from '@fantail/command-line'
import { rowOf } from '../../report/rows.ts'
import { figureOf } from '../../report/summary.ts'
import type { Row, Scenario, ScenarioOptions } from '../../scenario.ts'
import { interleaved, type Stage, withStage } from '../../stage.ts'
import { canRestrict, type ManyOptions, type ManyProcesses, startMany } from '../parts/many-processes.ts'

const RAW_LOG = '.fantail/bench-scale.jsonl'
const TURNS = 5
const WARM_UPS = 2
/** From each of the publishing processes. */
const DELIVERIES = 60_000
/** A second process of a kind may cost so much more CPU for each delivery. */
const SECOND_MAX = 1.08

export const scale: Scenario = {
  name: 'scale',
  summary: 'deliveries/s on --cores 1,2,4,8, and CPU with two workers or APIs against one',
  run: async (options) => {
    const { cores = coresOfMachine(), report } = options
    if (!canRestrict()) report('there is no taskset, so Fantail may use every core')
    mkdirSync('.fantail', { recursive: true })
    const rows: Row[] = []
    for (const count of cores) rows.push(...(await onCores(count, options)))
    rows.push(await second('workers', options), await second('apis', options))
    report(`raw log: ${RAW_LOG}`)
    return rows
  },
}

/** 1, 2, 4 … up to all. */
function coresOfMachine(): number[] {
  const powers = Array.from({ length: 10 }, (_, n) => 2 ** n)
  return powers.filter((count) => count <= availableParallelism())
}

async function onCores(cores: number, options: ScenarioOptions): Promise<Row[]> {
  const counts = countsFor(cores, {})
  const laps = await withStages(Math.ceil(cores / 2), async (stages) => {
    const many = await startMany(stages, { ...counts, cores })
    const once = lapOf(many, { ...counts, cores }, options)
    await once()
    const measured = []
    for (let n = 0; n < (options.quick ? 1 : TURNS); n++) measured.push(await once())
    await many.stop()
    return measured
  })
  const note = `${counts.apis} APIs, ${counts.workers} workers`
  const name = cores === 1 ? '1 core' : `${cores} cores`
  return [
    rowOf(`${name}: deliveries`, figureOf(laps.map((lap) => lap.deliveriesPerSecond)), {
      unit: '/s',
      note,
    }),
    rowOf(`${name}: CPU per delivery`, figureOf(laps.map(({ micros }) => micros)), { unit: 'µs', note }),
  ]
}

/** CPU per delivery with two processes of a kind, against one, in pairs of laps. */
async function second(kind: 'workers' | 'apis', options: ScenarioOptions): Promise<Row> {
  const pairs = await withStages(1, async (stages) => {
    const counts = [2, 1].map((count) => ({ workers: 1, apis: 1, [kind]: count }))
    const both = [
      await startMany(stages, counts[0] as ManyOptions),
      await startMany(stages, counts[1] as ManyOptions),
    ]
    const [two, one] = both.map((many, n) => lapOf(many, counts[n] as ManyOptions, options))
    if (!two || !one) throw new Error('both are needed')
    // Two processes get half of the work each, and need as much of it as one to be warm.
    await interleaved(WARM_UPS, two, one)
    const measured = await interleaved(options.quick ? 2 : TURNS, two, one)
    for (const many of both) await many.stop()
    return measured
  })
  const ratios = pairs.map(([two, one]) => two.micros / one.micros)
  return rowOf(`two ${kind} : one, CPU per delivery`, figureOf(ratios), { unit: '×', atMost: SECOND_MAX })
}

function lapOf(many: ManyProcesses, counts: ManyOptions, { quick, report }: ScenarioOptions) {
  const deliveries = quick ? 20_000 : DELIVERIES
  return async () => {
    const lap = await many.lap(deliveries)
    const micros = Object.values(lap.cpuMicros).reduce((sum, value) => sum + value, 0)
    appendFileSync(RAW_LOG, `${JSON.stringify({ at: new Date().toISOString(), ...counts, ...lap })}\n`)
    const named = Object.entries(counts).map(([name, value]) => `${value} ${name}`)
    report(
      `${named.join(', ')}: ${lap.deliveriesPerSecond.toFixed(0)} deliveries/s, ${micros.toFixed(1)} µs each`,
    )
    return { ...lap, micros }
  }
}

/** Runs `use` with several receivers and publishers. */
function withStages<T>(
  count: number,
  use: (stages: Stage[]) => Promise<T>,
  stages: Stage[] = [],
): Promise<T> {
  if (stages.length === count) return use(stages)
  return withStage((stage) => withStages(count, use, [...stages, stage]))
}
