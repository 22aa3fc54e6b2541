/** Splits the bytes that a client sends to Redis into whole commands. */

const NONE = Buffer.alloc(0)
const LINE_END = '\r\n'
const ARRAY = '*'.charCodeAt(0)

/**
 * A command is an array of byte strings: `*<words>`, then `$<bytes>` and the bytes of each
 * (https://redis.io/docs/latest/develop/reference/protocol-spec/). A piece may end anywhere within a command. Anything
 * else is a line: a replica sends empty ones to its master while it loads.
 */
export class CommandReader {
  #rest: Buffer = NONE

  /** The commands that this piece completes, in order. The beginning of the next one is kept. */
  read(piece: Buffer): Buffer[] {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const commands: Buffer[] = []
    let from = 0
    for (let end = endOf(bytes, from); end !== undefined; end = endOf(bytes, from)) {
      commands.push(bytes.subarray(from, end))
      from = end
    }
    this.#rest = bytes.subarray(from)
    return commands
  }
}

/** undefined: the command is not complete yet. */
function endOf(bytes: Buffer, from: number): number | undefined {
  if (from < bytes.length && bytes[from] !== ARRAY) return endOfLine(bytes, from)
  const words = countAt(bytes, from)
  if (!words) return undefined
  let at = words.end
  for (let word = 0; word < words.count; word++) {
    const length = countAt(bytes, at)
    if (!length) return undefined
    at = length.end + length.count + LINE_END.length
  }
  return at <= bytes.length ? at : undefined
}

function endOfLine(bytes: Buffer, from: number): number | undefined {
  const at = bytes.indexOf('\n', from)
  return at < 0 ? undefined : at + 1
}

/** The number in a line `*<number>` or `$<number>`, and where the line ends. */
function countAt(bytes: Buffer, at: number): { count: number; end: number } | undefined {
  const lineEnd = bytes.indexOf(LINE_END, at)
  if (lineEnd < 0) return undefined
  return { count: Number(bytes.toString('latin1', at + 1, lineEnd)), end: lineEnd + LINE_END.length }
}
