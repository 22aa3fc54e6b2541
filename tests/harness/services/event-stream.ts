/** A listener to live events, over a connection of its own. */
import { waitFor } from '@fantail/test-kit'

interface SeenEvent {
  id: string | undefined
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events whose form the client has types for.
  data: any
}

export interface EventStream {
  status: number
  headers: Headers
  /** All events so far. `comments` are counted. */
  seen: SeenEvent[]
  comments: number
  /** The last id, for the next listener. */
  lastId: string | undefined
  isEnded: boolean
  of(name: string): SeenEvent[]
  /** Resolves when `count` events of this name have arrived. */
  until(name: string, count: number): Promise<SeenEvent[]>
  close(): void
}

interface ListenOptions {
  lastId?: string | undefined
  headers?: Record<string, string>
}

/** Resolves when the stream is live. */
export async function listenTo(
  url: string,
  { lastId, headers = {} }: ListenOptions = {},
): Promise<EventStream> {
  const aborter = new AbortController()
  const resumed = lastId === undefined ? {} : { 'Last-Event-ID': lastId }
  const response = await fetch(url, { headers: { ...headers, ...resumed }, signal: aborter.signal })
  const stream: EventStream = {
    status: response.status,
    headers: response.headers,
    seen: [],
    comments: 0,
    lastId,
    isEnded: false,
    of: (name) => stream.seen.filter((event) => event.name === name),
    until: (name, count) =>
      waitFor(() => (stream.of(name).length >= count ? stream.of(name) : undefined), {
        what: `${count} of ${name}, not ${JSON.stringify(stream.seen.slice(-20))}`,
      }),
    close: () => aborter.abort(),
  }
  void collect(stream, response)
  if (response.ok)
    await waitFor(() => stream.of('state').some(({ data }) => data.live), { what: 'a live stream' })
  return stream
}

async function collect(stream: EventStream, response: Response): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) take(stream, frame)
    }
  } catch {
    // The connection was cut, or this side has closed it.
  }
  stream.isEnded = true
}

function take(stream: EventStream, frame: string): void {
  const fields = new Map(
    frame.split('\n').map((line): [string, string] => {
      const at = line.indexOf(':')
      return [line.slice(0, at), line.slice(at + 1).trim()]
    }),
  )
  if (fields.has('')) stream.comments++
  const id = fields.get('id')
  stream.lastId = id ?? stream.lastId
  const name = fields.get('event')
  if (name !== undefined) stream.seen.push({ id, name, data: JSON.parse(fields.get('data') ?? 'null') })
}
