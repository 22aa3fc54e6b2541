// @ts-check
/**
 * Makes `fantail_VERSION_ARCH.deb` of a server tree, without any tool of Debian: an ar archive of two compressed tar
 * archives. The same tree, version and time always make the same bytes.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { capture, lastWords, StepError } from '../../bootstrap/steps.mjs'
import { tarChunks, withFolders } from '../tar-archive.mjs'
import { arArchive } from './ar-archive.mjs'
import { manPage } from './man-page.mjs'
import { CONFFILES, packageFiles } from './package-files.mjs'

/**
 * `tree`: the folder of the server. `mtime`: seconds since 1970. `maintainer`: as `Name <address>`.
 * @typedef {{ tree: string, arch: import('../node-binary.mjs').Arch, version: string, mtime: number,
 *   maintainer: string }} Debian
 * @typedef {import('../tar-archive.mjs').TarEntry} TarEntry
 */

const SCRIPTS = ['postinst', 'prerm', 'postrm']
const KIB = 1_024

/** @param {string} output the folder of the package @param {Debian} debian @returns {Promise<string>} its path */
export async function writeDebianPackage(output, debian) {
  const { tree, mtime, version, arch } = debian
  const files = packageFiles(tree, {
    manPage: manPage(await helpOf(tree), { version, date: dateOf(mtime).toISOString().slice(0, 10) }),
    changelog: changelogOf(debian),
    copyright: copyrightOf(debian),
    overrides: ownFile('lintian-overrides'),
  })
  const members = [
    { name: 'debian-binary', content: Buffer.from('2.0\n') },
    { name: 'control.tar.gz', content: packed(controlFiles(files, debian), mtime) },
    { name: 'data.tar.gz', content: packed(files, mtime) },
  ]
  const path = join(output, `fantail_${version}_${arch}.deb`)
  writeFileSync(path, arArchive(members, mtime))
  return path
}

/** Paths begin with `./`, as dpkg writes them. @param {TarEntry[]} files @param {number} mtime */
function packed(files, mtime) {
  const entries = [{ name: '.' }, ...withFolders(files).map((one) => ({ ...one, name: `./${one.name}` }))]
  return gzipSync(Buffer.concat([...tarChunks(entries, mtime)]), { level: 9 })
}

/** Our own Node runs the launcher, because the tree's Node may be for another machine. @param {string} tree */
async function helpOf(tree) {
  const done = await capture(process.execPath, [join(tree, 'bin/fantail.mjs'), '--help'])
  if (done.code === 0) return done.stdout
  throw new StepError(`fantail --help failed in ${tree}:\n${lastWords(done)}`)
}

/** @param {TarEntry[]} files @param {Debian} debian @returns {TarEntry[]} */
function controlFiles(files, debian) {
  let bytes = 0
  const sums = files
    .filter(({ link }) => !link)
    .map(({ name, path, content = '' }) => {
      const data = path ? readFileSync(path) : Buffer.from(content)
      bytes += data.length
      return `${createHash('md5').update(data).digest('hex')}  ${name}\n`
    })
  return [
    { name: 'control', content: controlOf(debian, Math.ceil(bytes / KIB)) },
    { name: 'conffiles', content: `${CONFFILES.join('\n')}\n` },
    { name: 'md5sums', content: sums.join('') },
    ...SCRIPTS.map((name) => ({ name, content: ownFile(name), mode: 0o755 })),
  ]
}

/**
 * Node needs these releases of the libraries. redis-server has the program, and its own unit and data stay as they are.
 * @param {Debian} debian @param {number} installedKib
 */
function controlOf({ version, arch, maintainer }, installedKib) {
  return `Package: fantail
Version: ${version}
Architecture: ${arch}
Maintainer: ${maintainer}
Installed-Size: ${installedKib}
Depends: adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 6), redis-server (>= 5:6.2)
Section: net
Priority: optional
Description: self-hosted fan-out with the semantics of Amazon SNS
 A publisher sends a message to a topic once, over HTTP. Fantail delivers a
 copy to every subscriber of the topic, such as a webhook or a queue. It
 retries, filters and throttles, keeps the order of FIFO topics, and stores
 everything in a Redis of its own.
`
}

/** @param {Debian} debian */
function changelogOf({ version, maintainer, mtime }) {
  return `fantail (${version}) stable; urgency=medium

  * Release ${version}: CHANGELOG.md in this folder says what is new.

 -- ${maintainer}  ${dateOf(mtime).toUTCString().replace('GMT', '+0000')}
`
}

/** @param {number} mtime */
function dateOf(mtime) {
  return new Date(mtime * 1_000)
}

/** @param {Debian} debian */
function copyrightOf({ mtime }) {
  return `Copyright ${dateOf(mtime).getUTCFullYear()} the authors of Fantail

Fantail is licensed under the Apache License, Version 2.0. Debian has its text in
/usr/share/common-licenses/Apache-2.0. In this folder, node-license.txt is about
/usr/lib/fantail/bin/node, and third-party-licenses.txt about the packages that are
bundled in /usr/lib/fantail/server.
`
}

/** @param {string} name */
function ownFile(name) {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
