/** The costs, sums and limits of docs/scaling.md, which follow from the raw log of the published figures. */
import type { FiguresLog } from '../../bench/documents/figures-log.ts'
import { figureOf } from '../../bench/report/summary.ts'

const SCENARIOS = ['fanout-1', 'fanout-10', 'fanout-100000', 'redis-cost']
/** Each scenario makes as many laps of a work. Those before them are warm-ups. */
const LAPS = 5
const PROCESS_SHARE = 0.7
const MASTER_SHARE = 0.6

/** CPU of one delivery in µs. */
interface Costs {
  api: number
  worker: number
  redis: number
}

const whole = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 3 })
const rounded = (value: number) => Number(value.toPrecision(2))
const two = (value: number) => whole(rounded(value))
const busyCores = (perSecond: number, micros: number) => (perSecond * micros) / 1e6
/** Rounded first, because a division may end a little above a whole number. */
const coresFor = (busy: number, share: number) => Math.ceil(Number((busy / share).toFixed(6)))

/** The parts of the page, word for word, that hold a figure of the log or follow from one. */
export function scalingSums(log: FiguresLog): string[] {
  const single = costsOf(log, 'fan-out 1')
  const ten = costsOf(log, 'fan-out 10')
  const many = costsOf(log, 'fan-out 100000')
  const lanes = costsOf(log, 'through lanes')
  const byWay = (process: keyof Costs) =>
    `(${single[process]} µs at fan-out 1, ${ten[process]} µs at 10, ${many[process]} µs at 100, ` +
    `${lanes[process]} µs through lanes)`
  const slowWorker = rounded(valueIn(log, 'throttled', 'worker, per delivery'))
  const slowRedis = rounded(valueIn(log, 'throttled', 'Redis, per delivery'))
  const perShard = rounded(MASTER_SHARE / busyCores(1, lanes.redis))
  const largeSeconds = Math.round(busyCores(10e6, many.worker))
  const first = Math.round(valueIn(log, 'waiting', 'waiting for its first attempt'))
  const retry = Math.round(valueIn(log, 'waiting', 'waiting for a retry'))
  const body = Math.round(valueIn(log, 'waiting', 'a body, once per message and shard'))

  /** A row of the table of cores. */
  const size = (perSecond: number, fanOut: number, { worker, redis }: Costs, way = '') => {
    const publishes = perSecond / fanOut
    const cores = [
      coresFor(busyCores(publishes, single.api), PROCESS_SHARE),
      coresFor(busyCores(perSecond, worker), PROCESS_SHARE),
      coresFor(busyCores(perSecond, redis), MASTER_SHARE),
    ]
    return `| ${whole(perSecond)} | ${fanOut}${way} | ${whole(publishes)} | ${cores.join(' | ')} |`
  }
  const sizes = [10_000, 100_000, 1_000_000].flatMap((perSecond) => [
    size(perSecond, 1, single),
    size(perSecond, 10, ten),
    size(perSecond, 100, many),
    size(perSecond, 10, lanes, ', all through lanes'),
  ])

  return [
    `| API | ${single.api} µs | | | | |`,
    `| worker | | ${single.worker} µs | ${ten.worker} µs | ${many.worker} µs | ${lanes.worker} µs |`,
    `| Redis | | ${single.redis} µs | ${ten.redis} µs | ${many.redis} µs | ${lanes.redis} µs |`,
    `is the most expensive: ${slowWorker} µs of the worker and ${slowRedis} µs of Redis for each`,
    `| a delivery that waits for its first attempt; for a retry | ${first}; ${retry} |`,
    `in which deliveries of the message wait | ${whole(body)} |`,
    `APIs = D / F × ${single.api} µs / ${PROCESS_SHARE}`,
    `workers = D × ${byWay('worker')} / ${PROCESS_SHARE}`,
    `masters = D × ${byWay('redis')} / ${MASTER_SHARE}`,
    `bytes = waiting deliveries × ${retry} + messages that wait × shards of each × ${whole(body)}`,
    `APIs: 10,000 publishes × ${exampleOf(10_000, single.api, PROCESS_SHARE)}`,
    `Workers: 100,000 × ${exampleOf(100_000, ten.worker, PROCESS_SHARE)}`,
    `Redis: 100,000 × ${exampleOf(100_000, ten.redis, MASTER_SHARE)}`,
    `36,000,000 waiting deliveries × ${retry} bytes = ${two(0.036 * retry)} GB.`,
    `36,000,000 bodies × ${whole(body)} bytes = ${two(0.036 * body)} GB.`,
    ...sizes,
    `one core of Redis: ${MASTER_SHARE} / ${lanes.redis} µs = ${whole(perShard)} deliveries/s |`,
    `48 × ${whole(perShard)} = ${two(48 * perShard)} deliveries/s, on 48 masters`,
    `48 × ${MASTER_SHARE} / ${slowRedis} µs = ${two((48 * MASTER_SHARE) / busyCores(1, slowRedis))}/s |`,
    `${MASTER_SHARE} / ${single.redis} µs = ${two(MASTER_SHARE / busyCores(1, single.redis))} publishes/s`,
    `10,000,000 × ${many.worker} µs = ${largeSeconds} s of the workers' cores`,
    `and ${whole(busyCores(10e6, many.redis))} s of Redis over all masters`,
    `${largeSeconds} / 7 = ${Math.round(largeSeconds / 7)} s, a hundred take ${Math.round(largeSeconds / 70)} s.`,
    `which is included in the ${many.worker} µs.`,
    `10,000,000 × ${first} bytes = ${two(0.01 * first)} GB, and 48 copies of its body`,
  ]
}

function exampleOf(perSecond: number, micros: number, share: number): string {
  const busy = busyCores(perSecond, micros)
  return `${micros} µs = ${two(busy)} cores, / ${share} = ${two(busy / share)}: **${coresFor(busy, share)}**.`
}

/** The costs with the digits that the page has. */
function costsOf(log: FiguresLog, work: string): Costs {
  const of = (process: keyof Costs) =>
    rounded(Math.max(...SCENARIOS.map((name) => medianOf(log, name, work, process))))
  return { api: of('api'), worker: of('worker'), redis: of('redis') }
}

/** 0: the scenario does not have this work. */
function medianOf({ progress }: FiguresLog, name: string, work: string, process: keyof Costs): number {
  const lap = new RegExp(`^(?:round \\d+, )?${work}(?:, fantail)?: .*CPU µs: .*\\b${process} ([\\d.]+)`)
  const texts = progress.filter(({ scenario }) => scenario === name).map(({ text }) => text)
  const laps = texts.map((text) => Number(lap.exec(text)?.[1])).filter((micros) => !Number.isNaN(micros))
  return laps.length < LAPS ? 0 : figureOf(laps.slice(-LAPS)).median
}

function valueIn({ rows }: FiguresLog, scenario: string, figure: string): number {
  return rows.find((row) => row.scenario === scenario && row.figure === figure)?.value ?? Number.NaN
}
