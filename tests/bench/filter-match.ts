/**
 * What it costs to find out which of many filters a message matches: by slices of 500, as a worker has them, and by one
 * index of all. All filters share two keys and differ in a third. `none`: the message matches no filter; `ten`: ten, or
 * all where there are only ten; `tenth`: one in ten. First filters that differ in a text, then 100,000 that differ in other ways.
 */
import { FilterCompiler, FilterIndex, type FilterSubject, filterSubject } from '@fantail/policy'

const ROUNDS = 7
const MESSAGES = 50
const SLICE = 500
const MANY = 100_000

/** `group`: filters of one group are satisfied by the same messages. */
interface Kind {
  name: string
  condition(group: number): unknown
  /** undefined: the message has no such attribute. */
  value(group: number): { type: string; value: string } | undefined
}

const text = (value: string) => ({ type: 'String', value })
const groupsOf = (n: number) => (n < 0 ? 'f:f' : `${n % 10_000}:${Math.floor(n / 10_000)}`)
const KINDS: Kind[] = [
  { name: 'text', condition: (n) => `t${n}`, value: (n) => text(`t${n}`) },
  { name: 'number', condition: (n) => n, value: (n) => ({ type: 'Number', value: `${n}.0` }) },
  {
    name: 'range',
    condition: (n) => ({ numeric: ['>=', n, '<', n + 1] }),
    value: (n) => ({ type: 'Number', value: `${n}.5` }),
  },
  { name: 'prefix', condition: (n) => ({ prefix: `t${n}-` }), value: (n) => text(`t${n}-x`) },
  { name: 'suffix', condition: (n) => ({ suffix: `-t${n}` }), value: (n) => text(`x-t${n}`) },
  { name: 'wildcard', condition: (n) => ({ wildcard: `t${n}-*-x` }), value: (n) => text(`t${n}-y-x`) },
  {
    name: 'address',
    condition: (n) => `1::${groupsOf(n)}`,
    value: (n) => text(`1:0:0:0:0:0:${groupsOf(n)}`),
  },
  { name: 'any case', condition: (n) => ({ 'equals-ignore-case': `T${n}` }), value: (n) => text(`t${n}`) },
]

const NOBODY = -1

for (const count of [10, 1_000, MANY]) {
  for (const [name, groups] of cases(count)) {
    const [kind] = KINDS
    if (kind) tell(measure({ kind, count, groups, name }))
  }
}
for (const kind of KINDS.slice(1)) {
  for (const [name, groups] of cases(MANY).slice(0, 2)) tell(measure({ kind, count: MANY, groups, name }))
}

/** How many groups the filters are in. */
function cases(count: number): [name: 'none' | 'ten' | 'tenth', groups: number][] {
  return [
    ['none', count / 10],
    ['ten', count / 10],
    ['tenth', 10],
  ]
}

interface Case {
  kind: Kind
  count: number
  groups: number
  name: 'none' | 'ten' | 'tenth'
}

function measure({ kind, count, groups, name }: Case) {
  const compiled = Array.from({ length: Math.ceil(count / SLICE) }, (_, slice) => {
    const compiler = new FilterCompiler()
    return Array.from({ length: Math.min(SLICE, count - slice * SLICE) }, (_, i) => {
      const n = slice * SLICE + i
      // No two policies are the same: a worker would ask those once.
      const key = [kind.condition(n % groups), `own ${n}`]
      const policy = { type: ['created', 'changed'], size: [{ numeric: ['>=', 0] }], key }
      return compiler.compile(policy, 'MessageAttributes')
    })
  })
  const slices = compiled.map((filters) => new FilterIndex(filters))
  const whole = new FilterIndex(compiled.flat())
  const subjects = Array.from({ length: MESSAGES }, (_, n) =>
    subject(kind.value(name === 'none' ? NOBODY : (n * 7) % groups)),
  )
  const bySlices = time(subjects, slices)
  return {
    differ: kind.name,
    filters: count,
    case: name,
    ...bySlices,
    microsecondsByOneIndex: time(subjects, [whole]).microseconds,
  }
}

function subject(key: ReturnType<Kind['value']>): () => FilterSubject {
  const attributes = { type: text('created'), size: { type: 'Number', value: '5' }, ...(key && { key }) }
  return () => filterSubject({ message: 'x', attributes }, 'MessageAttributes')
}

/** For one message, its parsing included; the median of the rounds. */
function time(subjects: (() => FilterSubject)[], indexes: FilterIndex[]) {
  const once = () => {
    let matched = 0
    for (const parse of subjects) {
      const parsed = parse()
      for (const index of indexes) index.match(parsed, () => matched++)
    }
    return matched
  }
  const matched = once() / subjects.length
  // Warm: compiled by the engine for these very filters.
  for (let i = 0; i < 20; i++) once()
  const from = performance.now()
  once()
  const repeats = Math.max(1, Math.min(1_000, Math.floor(100 / (performance.now() - from))))
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now()
    for (let i = 0; i < repeats; i++) once()
    return ((performance.now() - begun) * 1_000) / (repeats * subjects.length)
  })
  const sorted = times.toSorted((a, b) => a - b)
  const [least = 0, median = 0, most = 0] = [sorted[0], sorted[ROUNDS >> 1], sorted.at(-1)]
  return { matched, microseconds: round(median), least: round(least), most: round(most) }
}

function tell(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
