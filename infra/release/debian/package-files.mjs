// @ts-check
/** The files of the Debian package: those of the server tree at Debian's places, and what dpkg wants besides. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { entriesOf } from '../tar-archive.mjs'

/** @typedef {import('../tar-archive.mjs').TarEntry} TarEntry */

/** The place that the tree's units name. */
const SERVER_HOME = '/opt/fantail'
/** The programs run from here. `/opt` is not for packages. */
const HOME = 'usr/lib/fantail'
const DOCS = 'usr/share/doc/fantail'

/** dpkg keeps such a file if it was edited. */
export const CONFFILES = ['/etc/fantail/redis.conf']

/** Documents of the tree link to each other, so they stay beside each other. @type {[string, string][]} */
const DOCUMENTS = ['docs/', 'README.md', 'SECURITY.md', 'CHANGELOG.md', '.env.example'].map((name) => [
  name,
  `${DOCS}/${name}`,
])

/**
 * Where files of the tree are in the package. The first row whose beginning fits counts.
 * @type {[string, string][]}
 */
const PLACES = [
  ['systemd/', 'usr/lib/systemd/system/'],
  ['etc/redis.conf', 'etc/fantail/redis.conf'],
  ...DOCUMENTS,
  ['sbom.cdx.json', `${DOCS}/sbom.cdx.json`],
  ['LICENSE.node', `${DOCS}/node-license.txt`],
  ['server/THIRD-PARTY-LICENSES.txt', `${DOCS}/third-party-licenses.txt`],
  ['', `${HOME}/`],
]
/** The file `copyright` names this licence, and Debian has its text. */
const LEFT_OUT = ['LICENSE']

/**
 * @param {string} tree the folder of the server
 * @param {{ manPage: string, changelog: string, copyright: string, overrides: string }} texts that only Debian has
 * @returns {TarEntry[]} files and links, without folders
 */
export function packageFiles(tree, { manPage, changelog, copyright, overrides }) {
  return [
    ...entriesOf(tree, '').flatMap(placed),
    { name: 'usr/bin/fantail', link: '../lib/fantail/bin/fantail' },
    { name: 'usr/share/man/man1/fantail.1.gz', content: gzipSync(manPage, { level: 9 }) },
    { name: `${DOCS}/changelog.gz`, content: gzipSync(changelog, { level: 9 }) },
    { name: `${DOCS}/copyright`, content: copyright },
    { name: 'usr/share/lintian/overrides/fantail', content: overrides },
  ]
}

/** @param {TarEntry} entry @returns {TarEntry[]} */
function placed(entry) {
  const name = entry.name.slice(1)
  if (!entry.path || LEFT_OUT.includes(name)) return []
  const [from, to] = PLACES.find(([start]) => name.startsWith(start)) ?? ['', '']
  const file = { ...entry, name: to + name.slice(from.length) }
  if (from === 'systemd/') return [{ name: file.name, content: moved(readFileSync(entry.path, 'utf8')) }]
  // Only the command beside it starts it: by itself it would take another Node.
  if (name === 'bin/fantail.mjs')
    return [{ name: file.name, content: readFileSync(entry.path, 'utf8').replace(/^#!.*/, '') }]
  return [file]
}

/** A unit with the package's places. @param {string} text */
function moved(text) {
  return text
    .replaceAll(`${SERVER_HOME}/docs`, `/${DOCS}/docs`)

    .replaceAll(SERVER_HOME, `/${HOME}`)
}
