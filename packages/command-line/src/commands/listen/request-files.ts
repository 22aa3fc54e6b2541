/**
 * Requests in files, which `fantail listen --record` writes and `fantail replay` reads: request line, headers, empty
 * line, body.
 */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError } from '../../output/exit-codes.ts'
import { readRequest } from '../messages/webhook-signature.ts'
import type { Exchange } from './forward.ts'
import type { ForwardRequest } from './forwarded-request.ts'

const ENDING = '.http'

/** Writes the request of an exchange into the folder. Names sort by time. */
export async function recordRequest(folder: string, { line, request }: Exchange): Promise<void> {
  const { at, messageId, attempt, url } = line
  const { pathname, search, host } = new URL(url)
  const headers = { host, ...request.headers, 'content-length': String(Buffer.byteLength(request.text)) }
  const head = [`POST ${pathname}${search} HTTP/1.1`, ...linesOf(headers), '', ''].join('\r\n')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, fileNameOf([at, messageId, attempt], ENDING)), head + request.text, {
    mode: 0o600,
  })
}

function linesOf(headers: Record<string, string>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
}

/** The files that the words name. A folder stands for its recorded files, in the order of time. */
export async function requestFiles(words: string[]): Promise<string[]> {
  const found: string[] = []
  for (const word of words) {
    const isFolder = await stat(word).then(
      (entry) => entry.isDirectory(),
      (error: Error) => {
        throw new CommandError('notFound', `${word} cannot be read: ${error.message}`)
      },
    )
    const names = isFolder ? (await readdir(word)).filter((name) => name.endsWith(ENDING)).sort() : []
    found.push(...(isFolder ? names.map((name) => join(word, name)) : [word]))
  }
  return found
}

/** Headers of one connection. The next connection sets its own. */
const OF_CONNECTIONS = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive'])

export async function readRequestFile(file: string): Promise<ForwardRequest> {
  const { headers, body } = readRequest(await readFile(file))
  if (headers.length === 0) {
    throw new CommandError(
      'usage',
      `${file} is not a request`,
      'It has headers, an empty line, and the body.',
    )
  }
  const pairs = headers.map((line): [string, string] => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
  })
  const kept = pairs.filter(([name]) => !OF_CONNECTIONS.has(name))
  return { headers: Object.fromEntries(kept), text: body.toString('utf8') }
}

/** Name of a recorded request's file. Past it: the name is cut. File systems allow 255 bytes. */
const FILE_NAME_CHARS_MAX = 200

/** The parts with hyphens between them. Characters that could name another folder or a hidden file become hyphens. */
export function fileNameOf(parts: (string | number)[], ending: string): string {
  const name =
    parts
      .join('-')
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[.-]+/, '') || 'unnamed'
  return name.slice(0, FILE_NAME_CHARS_MAX) + ending
}
