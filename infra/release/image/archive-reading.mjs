// @ts-check
/** Reads what Debian's packages are made of: ar archives, and tar archives with files, folders and symbolic links. */

/** @typedef {import('../tar-archive.mjs').TarEntry} TarEntry */

const AR_START_BYTES = 8
const AR_HEADER_BYTES = 60
const BLOCK = 512

/** @param {Buffer} archive */
export function membersOf(archive) {
  /** @type {Map<string, Buffer>} */
  const members = new Map()
  for (let at = AR_START_BYTES; at + AR_HEADER_BYTES <= archive.length; ) {
    const header = archive.toString('latin1', at, at + AR_HEADER_BYTES)
    const start = at + AR_HEADER_BYTES
    const end = start + Number(header.slice(48, 58))
    members.set(header.slice(0, 16).replace(/\/? *$/, ''), archive.subarray(start, end))
    // Members begin at even places.
    at = end + (end % 2)
  }
  return members
}

/**
 * Folders are left out. Names have no `./` at their beginning.
 * @param {Buffer} archive @returns {TarEntry[]}
 */
export function tarEntries(archive) {
  const entries = []
  for (let at = 0; archive[at]; ) {
    const text = (/** @type {number} */ from, /** @type {number} */ length) =>
      archive.toString('utf8', at + from, at + from + length).replace(/\0.*$/s, '')
    const size = Number.parseInt(text(124, 12), 8)
    const type = text(156, 1)
    const start = at + BLOCK
    const name = text(0, 100).replace(/^\.\//, '')
    if (type === '0') {
      const mode = Number.parseInt(text(100, 8), 8)
      entries.push({ name, mode, content: archive.subarray(start, start + size) })
    } else if (type === '2') entries.push({ name, link: text(157, 100) })
    else if (type !== '5') throw new TypeError(`${name} is of the type ${type}, which is not read`)
    at = start + Math.ceil(size / BLOCK) * BLOCK
  }
  return entries
}
