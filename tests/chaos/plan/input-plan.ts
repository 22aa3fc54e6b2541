/**
 * Draws the inputs of a chaos run: the requests that the run sends to its two API processes, and the time of each. The
 * seed decides all of them, so the same seed gives the same inputs. Every message has a unique text. Endpoints and
 * checks recognise the message by its text.
 */
import type { Seeded } from './seeded.ts'

const KINDS = ['a', 'b', 'c'] as const
export type Kind = (typeof KINDS)[number]
const FIFO_GROUPS = 6

/** `text` is `m<number>`. An endpoint's answer depends on the number. */
export interface PlannedMessage {
  text: string
  kind: Kind
}

/** One request. `at`: ms since the start of the run. `api`: the API process that gets the request first. */
export type Input = { at: number } & InputAction

type InputAction =
  /** A publish with an idempotency `key` is repeated until it is accepted. Each try goes to the other API process. */
  | { do: 'publish'; api: 0 | 1; messages: PlannedMessage[]; key?: string }
  /** Texts are `g<group>-<number>`. The publish is repeated until it is accepted. Then the group's next one follows. */
  | { do: 'publish-fifo'; api: 0 | 1; group: number; texts: string[] }
  /** Publishes to the fleeting topic, which `remake` deletes and creates again and again. */
  | { do: 'publish-fleeting'; api: 0 | 1; text: string }
  /** Deletes and creates the fleeting topic. The path of its subscription ends with `incarnation`. */
  | { do: 'remake'; api: 0 | 1; incarnation: number }
  | { do: 'redrive'; api: 0 | 1; perSecond: number | null }
  /** Publishes to the topic with an archive. */
  | { do: 'publish-archived'; api: 0 | 1; name: string }
  /** Replays the whole archive, unless a replay is under way. */
  | { do: 'replay'; api: 0 | 1; perSecond: number | null }

const PUBLISH_EVERY_MS = 110
const BATCH_MAX = 6
const KEYED = 0.2
const FIFO_EVERY_MS = 250
const FIFO_BATCH_MAX = 5
const FLEETING_EVERY_MS = 300
const REMAKE_MS = { from: 5_000, to: 12_000 }
const REDRIVE_MS = { from: 2_000, to: 6_000 }
const ARCHIVED_EVERY_MS = 150
const REPLAY_MS = { from: 4_000, to: 10_000 }

export function planInputs(seeded: Seeded, endMs: number): Input[] {
  return [
    ...planPublishes(seeded.fork('publish'), endMs),
    ...planFifo(seeded.fork('fifo'), endMs),
    ...planFleeting(seeded.fork('fleeting'), endMs),
    ...planRedrives(seeded.fork('redrives'), endMs),
    ...planReplays(seeded.fork('replays'), endMs),
  ].sort((a, b) => a.at - b.at)
}

const anyApi = (seeded: Seeded) => seeded.pick([0, 1] as const)

function planPublishes(seeded: Seeded, endMs: number): Input[] {
  const inputs: Input[] = []
  let number = 0
  for (let at = 0; at < endMs; at += seeded.between(1, 2 * PUBLISH_EVERY_MS)) {
    const count = seeded.chance(0.1) ? seeded.between(2, BATCH_MAX) : 1
    const messages = Array.from({ length: count }, () => ({
      text: `m${number++}`,
      kind: seeded.pick(KINDS),
    }))
    const key = seeded.chance(KEYED) ? { key: `key-${number}` } : {}
    inputs.push({ at, do: 'publish', api: anyApi(seeded), messages, ...key })
  }
  return inputs
}

function planFifo(seeded: Seeded, endMs: number): Input[] {
  const inputs: Input[] = []
  const next = new Array<number>(FIFO_GROUPS).fill(0)
  for (let at = 0; at < endMs; at += seeded.between(1, 2 * FIFO_EVERY_MS)) {
    const group = seeded.between(0, FIFO_GROUPS - 1)
    const first = next[group] ?? 0
    const count = seeded.between(1, FIFO_BATCH_MAX)
    next[group] = first + count
    const texts = Array.from({ length: count }, (_, i) => `g${group}-${first + i}`)
    inputs.push({ at, do: 'publish-fifo', api: anyApi(seeded), group, texts })
  }
  return inputs
}

function planFleeting(seeded: Seeded, endMs: number): Input[] {
  const inputs: Input[] = []
  let incarnation = 1
  for (let at = 0; at < endMs; at += seeded.between(REMAKE_MS.from, REMAKE_MS.to))
    inputs.push({ at, do: 'remake', api: anyApi(seeded), incarnation: incarnation++ })
  let number = 0
  for (let at = FLEETING_EVERY_MS; at < endMs; at += seeded.between(1, 2 * FLEETING_EVERY_MS))
    inputs.push({ at, do: 'publish-fleeting', api: anyApi(seeded), text: `f${number++}` })
  return inputs
}

function planRedrives(seeded: Seeded, endMs: number): Input[] {
  const inputs: Input[] = []
  for (let at = REDRIVE_MS.to; at < endMs; at += seeded.between(REDRIVE_MS.from, REDRIVE_MS.to))
    inputs.push({ at, do: 'redrive', api: anyApi(seeded), perSecond: seeded.pick([null, null, 5, 50]) })
  return inputs
}

function planReplays(seeded: Seeded, endMs: number): Input[] {
  const inputs: Input[] = []
  let number = 0
  for (let at = 0; at < endMs; at += seeded.between(1, 2 * ARCHIVED_EVERY_MS))
    inputs.push({ at, do: 'publish-archived', api: anyApi(seeded), name: `a${number++}` })
  for (let at = REPLAY_MS.from; at < endMs; at += seeded.between(REPLAY_MS.from, REPLAY_MS.to))
    inputs.push({ at, do: 'replay', api: anyApi(seeded), perSecond: seeded.pick([null, 20, 100]) })
  return inputs
}
