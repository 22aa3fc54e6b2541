/**
 * What it costs to find out which of many filters a message matches. All filters share three keys. `none`: the message
 * matches no filter; `selective`: ten; `unselective`: one in ten.
 */
import { compileFilter, FilterIndex, filterSubject } from '@fantail/policy'

const ROUNDS = 9
const CASES = ['none', 'selective', 'unselective'] as const
type Case = (typeof CASES)[number]

for (const count of [10, 1_000, 100_000]) {
  for (const kind of CASES) process.stdout.write(`${JSON.stringify(measure(count, kind))}\n`)
}

function measure(count: number, kind: Case) {
  const values = kind === 'unselective' ? 10 : Math.max(1, count / 10)
  const index = new FilterIndex(
    Array.from({ length: count }, (_, i) =>
      compileFilter(
        { tenant: [`t${i % values}`], type: ['created', 'changed'], size: [{ numeric: ['>=', 0] }] },
        'MessageAttributes',
      ),
    ),
  )
  const tenant = (n: number) => (kind === 'none' ? 'nobody' : `t${n % values}`)
  const messages = Array.from({ length: 100 }, (_, n) => ({
    message: 'x',
    attributes: {
      tenant: { type: 'String', value: tenant(n * 7) },
      type: { type: 'String', value: 'created' },
      size: { type: 'Number', value: '5' },
    },
  }))
  const repeats = kind === 'unselective' ? Math.max(1, 1_000 / count) : 50
  const times: number[] = []
  let matched = 0
  for (let round = 0; round < ROUNDS; round++) {
    matched = 0
    const from = performance.now()
    for (let repeat = 0; repeat < repeats; repeat++)
      for (const message of messages)
        index.match(filterSubject(message, 'MessageAttributes'), () => matched++)
    times.push(((performance.now() - from) * 1_000) / (repeats * messages.length))
  }
  const [low, median, high] = [0, ROUNDS >> 1, ROUNDS - 1].map((i) => times.toSorted((a, b) => a - b)[i] ?? 0)
  const perMessage = matched / (repeats * messages.length)
  return {
    filters: count,
    case: kind,
    matchedPerMessage: perMessage,
    microsecondsPerMessage: round(median),
    least: round(low),
    most: round(high),
    microsecondsPerMatch: perMessage === 0 ? null : round((median ?? 0) / perMessage),
  }
}

function round(value = 0): number {
  return Math.round(value * 100) / 100
}
