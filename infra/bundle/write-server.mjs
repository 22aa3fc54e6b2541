// @ts-check
/**
 * Writes the services into a folder of a package, so that they run without a checkout: the bundle, and the licences of
 * the packages that are in it.
 */
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBuild } from '../../packages/runtime/src/health/build.ts'
import { bundleForElsewhere } from './bundle-services.ts'
import { noticesOf, packagesOf, sortedPackages } from './bundled-packages.mjs'

/** @typedef {import('./bundled-packages.mjs').BundledPackage} BundledPackage */

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * @param {string} server the folder, which is made again
 * @param {{ mains?: Record<string, string>, others?: BundledPackage[] }} [more] `mains`: further main files, by name.
 *   `others`: packages that the caller adds to the folder
 * @returns {Promise<BundledPackage[]>} all packages of the folder
 */
export async function writeServer(server, { mains = {}, others = [] } = {}) {
  const { files, modules } = await bundleForElsewhere(mains)
  await rm(server, { recursive: true, force: true })
  await mkdir(server, { recursive: true })
  for (const { fileName, text } of files) {
    const path = join(server, fileName)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
  const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { version, commit } = readBuild(process.env.FANTAIL_COMMIT?.trim())
  await writeFile(
    join(server, 'package.json'),
    `${JSON.stringify({ name, version, commit, private: true, type: 'module' })}\n`,
  )
  const packages = sortedPackages([...packagesOf(modules), ...others])
  await writeFile(join(server, 'THIRD-PARTY-LICENSES.txt'), noticesOf(packages))
  return packages
}
