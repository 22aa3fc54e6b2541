/** The printed report: lines of JSON for programs, tables in Markdown for people. */
import { NAMES, type Name } from '../contest/contestant.ts'
import { roundedTo, shown, table } from './markdown.ts'
import { cpuOf, type Figure, figure, type Rounds, ratio, ratios, sum } from './summary.ts'

const TITLES: Record<Name, string> = {
  fantail: 'Fantail',
  earlier: 'an earlier Fantail',
  bullmq: 'BullMQ by hand',
  bare: 'no queue, `request` loop',
}

/** One line. Deliveries per second by contestant come first, then the figures that explain them. */
export function jsonLine(scenario: string, rounds: Rounds): string {
  const names = NAMES.filter((name) => rounds[name])
  const each = <T>(of: (name: Name) => T) => Object.fromEntries(names.map((name) => [name, of(name)]))
  const line = {
    scenario,
    ...each((name) => figure(rounds[name], 'deliveriesPerSecond').median),
    ratioToBullmq: ratio(rounds, 'bullmq'),
    ratioToBare: ratio(rounds, 'bare'),
    ratioToBullmqByRound: ratios(rounds, 'bullmq'),
    rounds: rounds[names[0] ?? 'fantail']?.length ?? 0,
    minMax: each((name) => {
      const { min, max } = figure(rounds[name], 'deliveriesPerSecond')
      return [min, max]
    }),
    publishesPerSecond: each((name) => figure(rounds[name], 'publishesPerSecond').median),
    publishMs: each((name) => ({
      p50: figure(rounds[name], 'publishP50Ms').median,
      p99: figure(rounds[name], 'publishP99Ms').median,
    })),
    cpuMicrosPerDelivery: each((name) => {
      const { services, redis } = cpuOf(rounds[name])
      return { services: services.median, redis: redis.median }
    }),
    lost: each((name) => sum(rounds[name], 'lost')),
    duplicates: each((name) => sum(rounds[name], 'duplicates')),
    refused: each((name) => sum(rounds[name], 'refused')),
  }
  return JSON.stringify(line, (_, value) => (typeof value === 'number' ? roundedTo(value, 2) : value))
}

export function tables(scenarios: Map<string, Rounds>): string {
  const rows = [...scenarios]
  const names = NAMES.filter((name) => rows.some(([, rounds]) => rounds[name]))
  const compared = names.includes('fantail') && names.includes('bullmq')
  const throughput = table(
    ['deliveries/s', ...names.map((name) => TITLES[name]), ...(compared ? ['Fantail : BullMQ'] : [])],
    rows.map(([scenario, rounds]) => [
      scenario,
      ...names.map((name) => withSpread(figure(rounds[name], 'deliveriesPerSecond'))),
      ...(compared ? [`${roundedTo(ratio(rounds, 'bullmq'), 1)} x`] : []),
    ]),
  )
  const queued = names.filter((name) => name !== 'bare')
  const publishing = table(
    ['publishes/s accepted (p50, p99)', ...queued.map((name) => TITLES[name])],
    rows.map(([scenario, rounds]) => [scenario, ...queued.map((name) => publishCell(rounds, name))]),
  )
  const cost = table(
    ['CPU µs per delivery: processes + Redis', ...names.map((name) => TITLES[name])],
    rows.map(([scenario, rounds]) => [scenario, ...names.map((name) => costCell(rounds, name))]),
  )
  return [throughput, publishing, cost, arrivals(scenarios, names)].join('\n\n')
}

function publishCell(rounds: Rounds, name: Name): string {
  const of = (what: 'publishP50Ms' | 'publishP99Ms') => shown(figure(rounds[name], what).median)
  const { median } = figure(rounds[name], 'publishesPerSecond')
  return `${shown(median)} (${of('publishP50Ms')}, ${of('publishP99Ms')} ms)`
}

function costCell(rounds: Rounds, name: Name): string {
  const { services, redis } = cpuOf(rounds[name])
  return name === 'bare' ? shown(services.median) : `${shown(services.median)} + ${shown(redis.median)}`
}

/** States the checked deliveries for every contestant, over all rounds. */
function arrivals(scenarios: Map<string, Rounds>, names: Name[]): string {
  const total = (name: Name, of: 'lost' | 'duplicates' | 'refused') =>
    [...scenarios.values()].reduce((all, rounds) => all + sum(rounds[name], of), 0)
  const told = names.map((name) => {
    const [lost, duplicates, refused] = [
      total(name, 'lost'),
      total(name, 'duplicates'),
      total(name, 'refused'),
    ]
    return `${TITLES[name]}: ${lost} lost, ${duplicates} twice, ${refused} publishes refused`
  })
  return `Every delivery was looked for at the receiver. ${told.join('; ')}.`
}

function withSpread({ median, min, max }: Figure): string {
  return min === max ? shown(median) : `${shown(median)} (${shown(min)}–${shown(max)})`
}
