/**
 * Whether the console reaches the API, for the status light. Every request counts, whether it is answered or not. So
 * the light itself only needs a slow heartbeat.
 *
 * connecting ─answer→ live ─no answer, 5xx→ stale ─answer→ live;  any ─401, 403 to everything→ refused
 */

export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  /** Epoch ms of the last good answer; undefined: there was none. */
  | { state: 'stale'; since: number | undefined }
  | { state: 'refused'; status: number }

/**
 * Time without an answer after which the light says that the API is silent. Past it: the next answer ends that. An API
 * that hangs answers neither with a success nor with an error. The heartbeat comes every 5 s, so the light tells of
 * silence after 9 s at the latest.
 */
const SILENT_MS_MAX = 4_000

let connection: Connection = { state: 'connecting' }
let lastGoodAt: number | undefined
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
  if (connection.state !== 'live') become({ state: 'live' })
}

/** Notes silence while a read has no answer for long. Other calls may take as long as the endpoint that they ask. */
export async function watchRead<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const timer = setTimeout(noteSilence, SILENT_MS_MAX)
  try {
    return await answer
  } finally {
    clearTimeout(timer)
  }
}

export function noteSilence(): void {
  if (connection.state !== 'stale') become({ state: 'stale', since: lastGoodAt })
}

export function subscribeToConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function currentConnection(): Connection {
  return connection
}
