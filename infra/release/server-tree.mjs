// @ts-check
/**
 * Lays out the folder that Fantail runs from on a server, without npm and without a checkout:
 *
 *   bin/node, bin/fantail   the pinned Node, and the command that starts everything
 *   bin/fantail.mjs, server the launcher; command line, services and console, each bundled
 *   etc                     redis.conf, and fantail.env as a template
 *   systemd                 the units, which expect the folder at /opt/fantail
 *   docs, *.md, .env.example  the documents of this version, and every setting
 *   LICENSE                 Fantail's; LICENSE.node and server/THIRD-PARTY-LICENSES.txt: those of the parts of others
 *   sbom.cdx.json           the parts of others, as CycloneDX
 *
 * The server tarball, the Debian package and the images have this folder. By hand:
 * `node infra/release/server-tree.mjs FOLDER amd64 | arm64`.
 */
import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../bootstrap/paths.mjs'
import { writePacked } from '../bundle/write-packed.mjs'
import { ARCHES, nodeVersion, writeNode } from './node-binary.mjs'
import { sbomOf } from './sbom.mjs'

const UNITS = ['fantail', 'fantail-api', 'fantail-worker@', 'fantail-redrive', 'fantail-redis']
/** Places in the repository, and in the folder. */
const COPIED = [
  ['LICENSE', 'LICENSE'],
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', '.env.example', 'docs'].map((name) => [name, name]),
  ['infra/redis/redis.conf', 'etc/redis.conf'],
  ['infra/systemd/fantail.env', 'etc/fantail.env'],
  ...UNITS.map((unit) => [`infra/systemd/${unit}.service`, `systemd/${unit}.service`]),
  ['infra/bin/fantail', 'bin/fantail'],
]

/**
 * Makes the folder again, with everything but Node. It is the same for every architecture.
 * @param {string} folder
 * @param {string} [built] as `writePacked` takes it
 */
export async function writeTreeWithoutNode(folder, built) {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const packages = await writePacked(folder, built)
  await writeFile(join(folder, 'sbom.cdx.json'), sbomOf(packages, nodeVersion()))
  for (const [from = '', to = ''] of COPIED) {
    await cp(join(root, from), join(folder, to), { recursive: true })
  }
  await chmod(join(folder, 'bin/fantail'), 0o755)
}

if (import.meta.main) {
  const [folder, name] = process.argv.slice(2)
  const arch = ARCHES.find((one) => one === name)
  if (!folder || !arch) throw new Error(`usage: server-tree.mjs FOLDER ${ARCHES.join(' | ')}`)
  await writeTreeWithoutNode(folder)
  await writeNode(folder, arch)
}
