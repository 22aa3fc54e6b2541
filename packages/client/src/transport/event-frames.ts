/** Reads the frames of `text/event-stream`. */

interface Frame {
  name: string
  id: string | undefined
  data: unknown
}

/** `heard` is called for everything that arrives, including comments. */
export async function* framesIn(
  response: Response,
  heard: () => void,
): AsyncGenerator<Frame, void, undefined> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    heard()
    text += decoder.decode(value, { stream: true })
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const frame = frameOf(part)
      if (frame) yield frame
    }
  }
}

/** undefined: the lines are a comment, or say how soon to connect again. */
function frameOf(text: string): Frame | undefined {
  const fields = new Map(
    text.split('\n').map((line): [string, string] => {
      const [name = '', value = ''] = line.split(/: ?(.*)/s, 2)
      return [name, value]
    }),
  )
  const [name, data] = [fields.get('event'), fields.get('data')]
  if (name === undefined || data === undefined) return undefined
  return { name, id: fields.get('id'), data: JSON.parse(data) }
}
