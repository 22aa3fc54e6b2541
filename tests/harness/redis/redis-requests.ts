/** Recognises commands to Redis by their bytes. */
import { createHash } from 'node:crypto'
import { readScript, type ScriptName } from '@fantail/store'

type Matcher = (request: Buffer) => boolean

/**
 * Matches runs of a script: by its hash, or by its whole text, which each connection sends the first time. The
 * beginning of a text does not identify a script, because many scripts begin with the same include.
 */
export function runsScript(file: ScriptName): Matcher {
  const { lua } = readScript(file)
  const byHash = hasArgument(createHash('sha1').update(lua).digest('hex'))
  const byText = hasArgument(lua)
  return (request) => byHash(request) || byText(request)
}

/** Matches requests with exactly this argument. */
export function hasArgument(argument: string | Buffer): Matcher {
  const bytes = Buffer.from(argument)
  const encoded = Buffer.concat([Buffer.from(`\r\n$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')])
  return (request) => request.includes(encoded)
}

export function all(...matchers: Matcher[]): Matcher {
  return (request) => matchers.every((matches) => matches(request))
}
