/** The broken promises of a run, as texts. The list is empty if all promises were kept. */
import type { Account, EndpointAccount } from './chaos-ledger.ts'

const SHOWN = 10

/** Checks that every delivery of the standard topic has exactly one end. */
export function judgeAccount({ endpoints, counted, toRedrive }: Account): string[] {
  const all = Object.values(endpoints)
  const sum = (of: (account: EndpointAccount) => number) => all.reduce((total, each) => total + of(each), 0)
  const discarded = sum(({ expected }) => expected.discarded)
  const more = sum(({ expected }) => expected.more)
  return [
    ...Object.entries(endpoints).flatMap(([name, account]) => judgeEndpoint(name, account)),
    ...outside('deliveries discarded', counted.discarded, discarded, more),
    ...outside('deliveries expired', counted.expired, 0, 0),
    ...outside('dead letters that wait for a redrive', toRedrive, 0, 0),
  ]
}

function judgeEndpoint(name: string, account: EndpointAccount): string[] {
  const { missing, unasked, twice, wronglyDead, expected, waiting } = account
  return [
    ...some(`${name}: lost`, missing),
    ...some(`${name}: requested though refused or filtered`, unasked),
    ...some(`${name}: both delivered and dead-lettered`, twice),
    ...some(`${name}: dead-lettered though it should arrive`, wronglyDead),
    ...outside(
      `${name}: deliveries waiting`,
      waiting,
      expected.waiting,
      expected.waiting > 0 ? expected.more : 0,
    ),
  ]
}

interface FifoFound {
  /** Accepted texts by group, in order. */
  accepted: Map<number, string[]>
  /** Texts in the queue, in the queue's order. */
  queued: string[]
  /** Texts that the webhook answered 2xx, in the order of their first arrivals. */
  arrived: string[]
}

export function judgeFifo({ accepted, queued, arrived }: FifoFound): string[] {
  const firsts = [...new Set(arrived)]
  return [...accepted].flatMap(([group, texts]) => {
    const ofGroup = (found: string[]) => found.filter((text) => text.startsWith(`g${group}-`))
    return [
      ...compare(`FIFO queue, group ${group}`, texts, ofGroup(queued)),
      ...compare(`FIFO webhook, group ${group}`, texts, ofGroup(firsts)),
    ]
  })
}

function compare(where: string, expected: string[], found: string[]): string[] {
  const at = expected.findIndex((text, i) => found[i] !== text)
  if (at >= 0)
    return [`${where}: ${found[at] ?? 'nothing'} instead of ${expected[at]} (of ${expected.length})`]
  return some(`${where}: more than was accepted`, found.slice(expected.length))
}

function some(what: string, texts: string[]): string[] {
  if (texts.length === 0) return []
  const rest = texts.length - SHOWN
  return [
    `${what}: ${texts.length}: ${texts.slice(0, SHOWN).join(' ')}${rest > 0 ? ` and ${rest} more` : ''}`,
  ]
}

function outside(what: string, found: number, least: number, more: number): string[] {
  const wanted = more === 0 ? `${least}` : `${least} to ${least + more}`
  return found >= least && found <= least + more ? [] : [`${what}: ${found} instead of ${wanted}`]
}
