/**
 * Reads the built files of the console (packages/console) and makes the answers with them. Each answer with the page
 * has its own nonce. All other files have a hash of their content in their name, so browsers can cache them. The build
 * has compressed each file.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FantailError } from '@fantail/contracts'
import type { Answer } from '../http/endpoint.ts'

/** The text that the nonce replaces (`packages/console/index.html`). */
const NONCE = /%NONCE%/g
const PAGE_NONCE_BYTES = 18

/** A file name without a path, so it cannot lead to another folder. */
const FILE_NAME = /^[\w-]+(\.[\w-]+)+$/

const CONTENT_TYPES = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
])

/** Encodings in order of preference. The first one that the browser accepts is used. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
]

const OWN_SITE = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/**
 * The content security policy. Scripts come only from files of this origin. Text cannot become markup or a script,
 * because the page has only one Trusted Types policy.
 */
const policyWith = (nonce: string, frameOrigins: readonly string[]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${frameOrigins.length === 0 ? "'none'" : frameOrigins.join(' ')}`,
    "require-trusted-types-for 'script'",
    'trusted-types fantail',
  ].join('; ')

interface ConsoleFiles {
  /** The HTML page. It is the same for every address below `/console/`. */
  page(): Promise<Answer>
  file(name: string, acceptEncoding: string | undefined): Promise<Answer>
}

interface PageOptions {
  /** Name of the HTML file. */
  page?: string
  /** Origins whose pages may show this page in a frame. */
  frameOrigins?: readonly string[]
}

/** `folder`: the folder with the built files. */
export function createConsoleFiles(
  folder = builtFolder(),
  { page = 'index.html', frameOrigins = [] }: PageOptions = {},
): ConsoleFiles {
  // X-Frame-Options cannot name origins. Browsers that know frame-ancestors need no other header.
  const isFramed = frameOrigins.length > 0
  return {
    page: async () => {
      const nonce = randomBytes(PAGE_NONCE_BYTES).toString('base64')
      const html = await read(join(folder, page))
      if (html === undefined) throw new FantailError('not_found', NOT_BUILT)
      return {
        status: 200,
        text: html.toString('utf8').replace(NONCE, nonce),
        headers: {
          ...OWN_SITE,
          'Content-Security-Policy': policyWith(nonce, frameOrigins),
          'Content-Type': 'text/html; charset=utf-8',
          // Pages that isolate themselves load only frames that allow it.
          ...(isFramed && { 'Cross-Origin-Resource-Policy': 'cross-origin' }),
        },
        ...(isFramed && { omits: ['X-Frame-Options'] }),
      }
    },
    file: async (name, acceptEncoding = '') => {
      const found = FILE_NAME.test(name)
        ? await readBest(join(folder, 'assets', name), acceptEncoding)
        : undefined
      const contentType = CONTENT_TYPES.get(extname(name))
      if (!found || contentType === undefined)
        throw new FantailError('not_found', 'the console has no such file')
      return {
        status: 200,
        text: found.bytes,
        headers: {
          ...OWN_SITE,
          ...(found.encoding && { 'Content-Encoding': found.encoding }),
          'Content-Type': contentType,
          'Cache-Control': 'public, max-age=31536000, immutable',
          Vary: 'Accept-Encoding',
        },
      }
    },
  }
}

const NOT_BUILT =
  'the console is not built here: `npm run build` builds it, and `npm start` does so by itself'

/** By its place, because @fantail/cli has the files at the same place without node_modules. */
export function builtFolder(): string {
  return fileURLToPath(new URL('../../../../packages/console/dist', import.meta.url))
}

async function readBest(path: string, accepted: string) {
  for (const { name, suffix } of ENCODINGS) {
    const bytes = takes(accepted, name) ? await read(`${path}${suffix}`) : undefined
    if (bytes) return { bytes, encoding: name }
  }
  const bytes = await read(path)
  return bytes && { bytes, encoding: undefined }
}

/** Whether a browser accepts an encoding. With `q=0` it refuses the encoding. */
function takes(accepted: string, name: string): boolean {
  return accepted.split(',').some((part) => {
    const [encoding = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    return encoding === name && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

async function read(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (['ENOENT', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
