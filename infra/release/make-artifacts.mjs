// @ts-check
/**
 * Makes every artifact of a release in a checkout that has its packages: `make-artifacts.mjs FOLDER`. `npm` as a second
 * word leaves out all but the npm packages. All bytes depend on the commit alone.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { root } from '../bootstrap/paths.mjs'
import { run, StepError, say } from '../bootstrap/steps.mjs'
import { writeDebianPackage } from './debian/debian-package.mjs'
import { libraryFiles } from './image/debian-libraries.mjs'
import { createOciLayout } from './image/oci-image.mjs'
import { ARCHES, writeNode } from './node-binary.mjs'
import { writeTreeWithoutNode } from './server-tree.mjs'
import { entriesOf, writeTarball } from './tar-archive.mjs'
import { PUBLISHED, tarballProblems } from './tarball-checks.mjs'

const [output = '', only] = process.argv.slice(2)
try {
  if (output === '') throw new StepError('usage: make-artifacts.mjs FOLDER [npm]')
  await makeArtifacts()
} catch (error) {
  if (!(error instanceof StepError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

async function makeArtifacts() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const name of PUBLISHED) await pack(join(root, 'packages', name), version)
  if (only !== 'npm') await makeServers(version)
  await writeChecksums()
}

/** @param {string} version */
async function makeServers(version) {
  const maintainer = await run('git', ['log', '-1', '--format=%an <%ae>'], { cwd: root })
  const commit = await run('git', ['rev-parse', 'HEAD'], { cwd: root })
  const mtime = Number(await run('git', ['log', '-1', '--format=%ct'], { cwd: root }))
  const image = createOciLayout({ version, commit, mtime })
  const work = mkdtempSync(join(tmpdir(), 'fantail-tree-'))
  try {
    await writeTreeWithoutNode(work)
    copyFileSync(join(work, 'sbom.cdx.json'), join(output, `fantail_${version}.cdx.json`))
    for (const arch of ARCHES) {
      say(`making the server for ${arch}`)
      await writeNode(work, arch)
      const name = `fantail-server_${version}_linux-${arch}`
      await writeTarball(join(output, `${name}.tar.gz`), entriesOf(work, name), mtime)
      await writeDebianPackage(output, { tree: work, arch, version, mtime, maintainer })
      image.addImage({ tree: work, arch, libraries: await libraryFiles(arch) })
    }
    image.write(output)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** @param {string} folder @param {string} version */
async function pack(folder, version) {
  say(`packing ${folder.split('/').at(-1)}`)
  const before = new Set(readdirSync(output))
  await run('pnpm', ['pack', '--pack-destination', output], { cwd: folder })
  const [tarball = ''] = readdirSync(output).filter((name) => !before.has(name))
  const path = join(output, tarball)
  const files = (await run('tar', ['-tf', path], { cwd: root }))
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
  const manifest = JSON.parse(await run('tar', ['-xOf', path, 'package/package.json'], { cwd: root }))
  const problems = tarballProblems(manifest, files, version)
  if (problems.length > 0) throw new StepError(problems.join('\n'))
}

/** The list has every file that the folder has by then. */
async function writeChecksums() {
  const lines = []
  for (const name of readdirSync(output).sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(output, name)), hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  writeFileSync(join(output, 'SHA256SUMS'), lines.join(''))
}
