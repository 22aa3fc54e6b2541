/**
 * Measures how long a worker needs to find the filters that a message matches. It uses slices of 500, a router over
 * them, and the reports of slices that do not match. For comparison, it measures one index of all filters.
 *
 * All filters share two keys and differ in a third. `none`: the message matches no filter. `one`: it matches one.
 * `ten`: it matches ten, or all if there are only ten. `tenth`: it matches one in ten. In the first cases the filters
 * differ in a text, then 100,000 filters differ in other ways.
 */
import { createMessageId, type Message, type SubscriptionRecord } from '@fantail/contracts'
import { compileFilter, FilterIndex } from '@fantail/policy'
import { MessageContext } from '../src/messages/message-context.ts'
import type { TopicSnapshot } from '../src/topics/compiled-slice.ts'
import { SliceFilters } from '../src/topics/slice-filters.ts'
import { TopicFilters } from '../src/topics/topic-filters.ts'

const ROUNDS = 7
const MESSAGES = 50
const SLICE = 500
const MANY = 100_000

/** `group`: filters of one group match the same messages. */
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
    if (kind) report(measure({ kind, count, groups, name }))
  }
}
for (const kind of KINDS.slice(1)) {
  for (const [name, groups] of cases(MANY).slice(0, 3)) report(measure({ kind, count: MANY, groups, name }))
}

/** The number of groups of filters in each case. */
function cases(count: number): [name: Case['name'], groups: number][] {
  return [
    ['none', count],
    ['one', count],
    ['ten', count / 10],
    ['tenth', 10],
  ]
}

interface Case {
  kind: Kind
  count: number
  groups: number
  name: 'none' | 'one' | 'ten' | 'tenth'
}

function measure({ kind, count, groups, name }: Case) {
  // All policies differ, because a worker would check equal ones only once.
  const policies = Array.from({ length: count }, (_, n) => ({
    type: ['created', 'changed'],
    size: [{ numeric: ['>=', 0] }],
    key: [kind.condition(n % groups), `own ${n}`],
  }))
  const messages = Array.from({ length: MESSAGES }, (_, n) =>
    message(kind.value(name === 'none' ? NOBODY : (n * 7) % groups)),
  )
  const topic = createTopic(policies)
  const whole = FilterIndex.of(policies.map((policy) => compileFilter({ filterPolicy: policy })))
  const bySlices = time(messages, (context) => {
    let matched = 0
    for (const { found } of topic.filters.match(topic.snapshot, context).toOpen)
      matched += found?.bits.length ?? 0
    return matched
  })
  const byOneIndex = time(messages, (context) => {
    let matched = 0
    whole.match(context.subject(undefined), () => matched++)
    return matched
  })
  return {
    differ: kind.name,
    filters: count,
    case: name,
    ...bySlices,
    microsecondsByOneIndex: byOneIndex.microseconds,
    microsecondsToChangeASlice: changeTime(topic),
  }
}

interface Topic {
  snapshot: TopicSnapshot
  filters: TopicFilters
  slices: SliceFilters[]
}

function createTopic(policies: SubscriptionRecord['filterPolicy'][]): Topic {
  const refs = Array.from({ length: Math.ceil(policies.length / SLICE) }, (_, n) => ({
    sliceId: `uid.${n}`,
    shard: 0,
  }))
  const filters = new TopicFilters()
  const slices = refs.map((ref, n) => {
    const records = policies
      .slice(n * SLICE, (n + 1) * SLICE)
      .map((filterPolicy, bit) => ({ id: `${n}-${bit}`, bit, protocol: 'http', filterPolicy }))
    const slice = SliceFilters.of({ ...ref, revision: '' }, records as SubscriptionRecord[], (_id, error) => {
      throw error
    })
    if (!slice) throw new Error('a slice without filters')
    filters.set(n, { ref, filters: slice, checkedAt: 0 })
    return slice
  })
  const topic = { arn: 'arn', uid: 'uid' } as TopicSnapshot['topic']
  return {
    snapshot: { topic, revision: '', slices: refs, subscriptions: 0, since: 0, hasFilters: true },
    filters,
    slices,
  }
}

/** The time to replace one slice by its changed form. */
function changeTime({ filters, snapshot, slices }: Topic): number {
  const [slice] = slices
  const [ref] = snapshot.slices
  if (!slice || !ref) return Number.NaN
  const change = () => {
    filters.delete(0)
    filters.set(0, { ref, filters: slice, checkedAt: 0 })
  }
  for (let i = 0; i < 20; i++) change()
  const begun = performance.now()
  for (let i = 0; i < 20; i++) change()
  return round(((performance.now() - begun) * 1_000) / 20)
}

function message(key: ReturnType<Kind['value']>): Message {
  const attributes = { type: text('created'), size: { type: 'Number', value: '5' }, ...(key && { key }) }
  return { messageId: createMessageId(1), topicArn: 'arn', publishedAt: 1, message: 'x', attributes }
}

/** The time per message, parsing included. It is the median of the rounds. */
function time(messages: Message[], match: (context: MessageContext) => number) {
  const once = () => {
    let matched = 0
    for (const each of messages) matched += match(new MessageContext(each))
    return matched
  }
  const matched = once() / messages.length
  // Lets the engine compile the code for these filters first.
  for (let i = 0; i < 20; i++) once()
  const from = performance.now()
  once()
  const repeats = Math.max(1, Math.min(1_000, Math.floor(100 / (performance.now() - from))))
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now()
    for (let i = 0; i < repeats; i++) once()
    return ((performance.now() - begun) * 1_000) / (repeats * messages.length)
  })
  const sorted = times.toSorted((a, b) => a - b)
  const [least = 0, median = 0, most = 0] = [sorted[0], sorted[ROUNDS >> 1], sorted.at(-1)]
  return { matched, microseconds: round(median), least: round(least), most: round(most) }
}

function report(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
