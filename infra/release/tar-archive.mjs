// @ts-check
/**
 * Writes tar archives whose bytes depend on the content alone: entries in order of their names, one time, root as the
 * owner, and no modes but those of files, commands and folders. The format is POSIX ustar.
 */
import { createWriteStream, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/**
 * `name`: a path without a slash at its end. Either `content`, or `path` of a file to read, or `link` that names a
 * target, or none of them, which is a folder.
 * @typedef {{ name: string, mode?: number, content?: string | Buffer, path?: string, link?: string }} TarEntry
 */

const BLOCK = 512
const NAME_MAX = 100
const PREFIX_MAX = 155
const TYPES = { file: '0', link: '2', folder: '5' }

/**
 * The folder, and everything in it below the name.
 * @param {string} folder @param {string} name @returns {TarEntry[]}
 */
export function entriesOf(folder, name) {
  const inside = readdirSync(folder).flatMap((child) => {
    const path = join(folder, child)
    const stats = statSync(path)
    if (stats.isDirectory()) return entriesOf(path, `${name}/${child}`)
    return [{ name: `${name}/${child}`, path, mode: stats.mode & 0o100 ? 0o755 : 0o644 }]
  })
  return [{ name }, ...inside]
}

/**
 * Adds the folders that the entries lie in.
 * @param {TarEntry[]} entries @returns {TarEntry[]}
 */
export function withFolders(entries) {
  const all = new Map(entries.map((entry) => [entry.name, entry]))
  for (const { name } of entries) {
    for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
      const folder = name.slice(0, at)
      if (!all.has(folder)) all.set(folder, { name: folder })
    }
  }
  return [...all.values()]
}

/** @param {string} file @param {TarEntry[]} entries @param {number} mtime seconds since 1970 */
export async function writeTarball(file, entries, mtime) {
  await pipeline(Readable.from(tarChunks(entries, mtime)), createGzip({ level: 9 }), createWriteStream(file))
}

/** @param {TarEntry[]} entries @param {number} mtime seconds since 1970 */
export function* tarChunks(entries, mtime) {
  const sorted = [...entries].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  for (const entry of sorted) {
    const content = entry.path ? readFileSync(entry.path) : Buffer.from(entry.content ?? '')
    yield headerOf(entry, content.length, mtime)
    if (content.length > 0) yield content
    yield Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
  }
  yield Buffer.alloc(2 * BLOCK)
}

/** @param {TarEntry} entry @param {number} size @param {number} mtime */
function headerOf(entry, size, mtime) {
  const type = entry.link ? 'link' : entry.path || entry.content !== undefined ? 'file' : 'folder'
  const { prefix, name } = splitName(type === 'folder' ? `${entry.name}/` : entry.name)
  if (entry.link && Buffer.byteLength(entry.link) > NAME_MAX)
    throw new RangeError(`${entry.link} is too long`)
  const mode = entry.mode ?? { file: 0o644, link: 0o777, folder: 0o755 }[type]
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100)
  header.write(`${octal(size, 11)}\0${octal(mtime, 11)}\0`, 124)
  header.write(`${' '.repeat(8)}${TYPES[type]}${entry.link ?? ''}`, 148)
  header.write('ustar\x0000root', 257)
  header.write('root', 297)
  header.write(prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  return header
}

/** @param {number} value @param {number} digits */
function octal(value, digits) {
  return value.toString(8).padStart(digits, '0')
}

/**
 * A long name goes into two fields, and the reader puts a slash between them.
 * @param {string} whole
 */
function splitName(whole) {
  if (Buffer.byteLength(whole) <= NAME_MAX) return { prefix: '', name: whole }
  const at = whole.indexOf('/', whole.length - NAME_MAX - 1)
  const prefix = whole.slice(0, at)
  const name = whole.slice(at + 1)
  if (at < 1 || Buffer.byteLength(prefix) > PREFIX_MAX || Buffer.byteLength(name) > NAME_MAX || name === '')
    throw new RangeError(`${whole} is too long for a tar archive`)
  return { prefix, name }
}
