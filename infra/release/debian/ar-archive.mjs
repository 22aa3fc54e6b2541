// @ts-check
/** Writes an ar archive, whose members keep their order, because dpkg expects one. */

const NAME_MAX = 15

/** @param {{ name: string, content: Buffer }[]} members @param {number} mtime seconds since 1970 */
export function arArchive(members, mtime) {
  const parts = members.flatMap(({ name, content }) => {
    if (name.length > NAME_MAX) throw new RangeError(`${name} is too long for an ar archive`)
    const owner = '0'.padEnd(6)
    const header = [
      name.padEnd(16),
      String(mtime).padEnd(12),
      owner,
      owner,
      '100644'.padEnd(8),
      String(content.length).padEnd(10),
      '`\n',
    ]
    return [Buffer.from(header.join('')), content, Buffer.from(content.length % 2 === 1 ? '\n' : '')]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}
