// @ts-check
/**
 * Writes the services into a folder of a package, so that they run without a checkout: the bundle, and the licences of
 * the packages that are in it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBuild } from '../../packages/runtime/src/health/build.ts'
import { bundleForElsewhere } from './bundle-services.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * @param {string} server the folder, which is made again
 * @param {{ mains?: Record<string, string>, copied?: string[] }} [more] `mains`: further main files, by name. `copied`:
 *   folders of the repository that are at the same place below the server's
 */
export async function writeServer(server, { mains = {}, copied = [] } = {}) {
  const { files, modules } = await bundleForElsewhere(mains)
  await rm(server, { recursive: true, force: true })
  await mkdir(server, { recursive: true })
  for (const { fileName, text } of files) await writeFile(join(server, fileName), text)
  for (const folder of copied) await cp(join(root, folder), join(server, folder), { recursive: true })
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { version, commit } = readBuild(process.env.FANTAIL_COMMIT?.trim())
  await writeFile(
    join(server, 'package.json'),
    `${JSON.stringify({ name, version, commit, private: true, type: 'module' })}\n`,
  )
  await writeFile(join(server, 'THIRD-PARTY-LICENSES.txt'), licences(modules))
}

/**
 * One section for each package. A package must name its licence or contain its text. Otherwise it must not be in the
 * bundle.
 * @param {string[]} modules
 */
function licences(modules) {
  const folders = new Set(
    modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  )
  return [...folders].sort().map(sectionOf).join('\n')
}

/** @param {string} folder */
function sectionOf(folder) {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) throw new Error(`${folder} has no package.json`)
  const { name, version, license } = JSON.parse(readFileSync(manifest, 'utf8'))
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copying)/i.test(entry.name))
    .map((entry) => entry.name)
  if (!license && texts.length === 0) throw new Error(`${name} has no licence`)
  const parts = texts.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${'='.repeat(80)}`, `${name} ${version} (${license})`, '', ...parts, ''].join('\n')
}
