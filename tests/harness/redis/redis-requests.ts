/** Recognises commands to Redis by their bytes. */
import { createHash } from 'node:crypto'
import { readScript, type ScriptName } from '@fantail/store'

type Matcher = (request: Buffer) => boolean

/**
 * Runs of one of our scripts: by its hash, or by its whole text, which each connection sends the first time. Many
 * scripts begin with the same include, so the beginning of a text names none of them.
 */
export function runsScript(file: ScriptName): Matcher {
  const { lua } = readScript(file)
  const byHash = hasArgument(createHash('sha1').update(lua).digest('hex'))
  const byText = hasArgument(lua)
  return (request) => byHash(request) || byText(request)
}

/** Requests with this argument, exactly. */
export function hasArgument(argument: string | Buffer): Matcher {
  const bytes = Buffer.from(argument)
  const encoded = Buffer.concat([Buffer.from(`\r\n$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')])
  return (request) => request.includes(encoded)
}

export function all(...matchers: Matcher[]): Matcher {
  return (request) => matchers.every((matches) => matches(request))
}
