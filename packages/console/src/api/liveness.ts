/**
 * Whether the console reaches the API, for the status light. Every request counts, whether it is answered or not. So
 * the light itself only needs a slow heartbeat.
 *
 * connecting ─answer→ live ─no answer or 5xx, twice→ stale ─answer→ live;  any ─401, 403 to everything→ refused
 */

export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  /** Epoch ms of the last good answer; undefined: there was none. */
  | { state: 'stale'; since: number | undefined }
  | { state: 'refused'; status: number }

/**
 * Time without an answer that counts as a missed answer, and again each time it has passed. An API that hangs answers
 * neither with a success nor with an error. The heartbeat comes every 5 s, so the light tells of silence after 13 s at
 * the latest.
 */
const SILENT_MS_MAX = 4_000
/** Missed answers in a row from which the light is grey. One may be an accident of the network. */
const MISSED_FROM = 2
/** Misses within this time count as one, because a page sends several requests at once. */
const MISSED_TOGETHER_MS = 1_000

let connection: Connection = { state: 'connecting' }
let lastGoodAt: number | undefined
let missed = 0
let missedAt = 0
const listeners = new Set<() => void>()

function become(next: Connection): void {
  connection = next
  for (const listener of listeners) listener()
}

export function noteAnswer(status: number): void {
  if (status >= 500) noteSilence()
  else if (status === 401) become({ state: 'refused', status })
  else noteGood()
}

function noteGood(): void {
  lastGoodAt = Date.now()
  missed = 0
  if (connection.state !== 'live') become({ state: 'live' })
}

/** Notes missed answers while a read has none for long. Other calls may take as long as the endpoint that they ask. */
export async function watchRead<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const timer = setInterval(noteSilence, SILENT_MS_MAX)
  try {
    return await answer
  } finally {
    clearInterval(timer)
  }
}

export function noteSilence(): void {
  const now = Date.now()
  if (missed > 0 && now - missedAt < MISSED_TOGETHER_MS) return
  missed++
  missedAt = now
  if (missed < MISSED_FROM) return
  if (connection.state !== 'stale') become({ state: 'stale', since: lastGoodAt })
}

export function subscribeToConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function currentConnection(): Connection {
  return connection
}
