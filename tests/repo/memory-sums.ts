/**
 * The bounds of memory, added up by what holds the memory. `@limit memory (…)` names it:
 *
 * - `worker`: once in each worker. `worker; API`: once in each of both.
 * - `API × 5`: five times in each API process.
 * - `API, each listener`: for each listener of an API process. The sum leaves it out.
 * - `part of BODY_BYTES_MAX`: within that bound. The sum leaves it out too.
 */
export interface Bound {
  name: string
  value: number
  /** Path of the source from the root. */
  path: string
  /** The whole comment. Absent if the constant has none. */
  comment: string | undefined
  /** The text after `@limit`. Absent if the comment has none. */
  limit: string | undefined
  /** The limit bounds memory: what holds it, from `@limit memory (worker; API)`. Empty if the comment names nothing. */
  memoryOf: string | undefined
}

interface Place {
  bound: Bound
  holder: string
  times: number
  /** The unit, if the bound holds for each of several things. */
  each: string | undefined
}

type Show = (bound: Pick<Bound, 'name' | 'value'>) => string

const HOLDER = /^([A-Z]?[\w `]+?)(?: × ([\d.]+))?(?:, each ([\w ]+))?$/
const PART = /^part of ([A-Z_]+)$/

/** The services. Commands and test tools also have bounds, but they do not run for long. */
const PROCESSES = ['worker', 'API', 'redrive service']

/** Settings that bound the memory of Redis for each of several things. */
const SETTINGS_EACH = [['each topic', '`FANTAIL_DEAD_LETTER_QUEUE_SHARE`']] as const

/** The places of a bound. Throws if the comment cannot be read. */
export function holdersOf(bound: Bound): Place[] {
  const { memoryOf = '', name } = bound
  if (PART.test(memoryOf)) return []
  return memoryOf.split('; ').map((text) => {
    const [, holder, times = '1', each] = HOLDER.exec(text) ?? []
    if (holder === undefined) throw new Error(`@limit memory of ${name} must name what holds it: "${text}"`)
    return { bound, holder, times: Number(times), each }
  })
}

/** The bound that this one is a part of. */
export function wholeOf({ memoryOf = '' }: Bound): string | undefined {
  return PART.exec(memoryOf)?.[1]
}

export function renderSums(bounds: Bound[], show: Show): string {
  const places = bounds.flatMap(holdersOf)
  const rows = PROCESSES.map((process) =>
    rowOf(
      process,
      places.filter(({ holder }) => holder === process),
      show,
    ),
  )
  const ofRedis = places.filter(({ holder }) => holder === 'Redis')
  return `${HEAD}${rows.join('\n')}\n${REDIS_HEAD}${redisRows(ofRedis, show).join('\n')}\n`
}

const HEAD = `### Added up

What one process holds at most in these caches and buffers, with the default settings. The sum has the bounds in bytes.
Some bounds hold for each of several things, so their sum depends on how many there are. Sizes are counted as each bound
says. Node.js itself, connections, and requests and answers that are being read are not in the sum.

| process | at most | bounds | besides |
|---|---|---|---|
`

const isAdded = ({ bound: { name }, each }: Place) => /bytes/i.test(name) && each === undefined

function rowOf(process: string, places: Place[], show: Show): string {
  const added = places.filter(isAdded)
  const others = places.filter((one) => !isAdded(one))
  const sum = added.reduce((total, { bound, times }) => total + bound.value * times, 0)
  const bounds = added.map(({ bound, times }) => `\`${bound.name}\`${times === 1 ? '' : ` × ${times}`}`)
  const besides = others.map((one) => besidesOf(one, show))
  const total = show({ name: 'BYTES', value: sum })
  return `| ${process} | **${total}** | ${bounds.join(', ')} | ${besides.join(', ')} |`
}

function besidesOf({ bound, each }: Place, show: Show): string {
  return `\`${bound.name}\` = ${show(bound)}${each === undefined ? '' : ` for each ${each}`}`
}

const REDIS_HEAD = `
The memory of Redis is bounded as a whole, and for each topic and subscription:

| for | bounds |
|---|---|
`

function redisRows(places: Place[], show: Show): string[] {
  const byUnit = Map.groupBy(places, ({ each }) => (each === undefined ? 'all together' : `each ${each}`))
  const units = [...byUnit].sort(([a], [b]) => (a < b ? -1 : 1))
  return units.map(([unit, those]) => {
    const settings = SETTINGS_EACH.flatMap(([each, name]) => (each === unit ? [name] : []))
    const constants = those.map(({ bound }) => `\`${bound.name}\` = ${show(bound)}`)
    return `| ${unit} | ${[...constants, ...settings].join(', ')} |`
  })
}
