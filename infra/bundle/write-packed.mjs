// @ts-check
/**
 * Writes Fantail in the form that runs without a checkout and without packages: `bin/fantail.mjs`, and next to `bin`
 * the folder `server` with the command line, the services and the console. The npm package and the server tree have it.
 */
import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { scalarFolder, scalarPackages } from './scalar-packages.mjs'
import { writeServer } from './write-server.mjs'

/** @typedef {import('./bundled-packages.mjs').BundledPackage} BundledPackage */

/** @param {string} path */
const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
/** Vite writes the licences of a bundle's packages here. */
const LICENCES = '.vite'
/** The documentation page of the API. Its only package lies next to it in a bundle. */
const DOCS = 'services/publish-api/src/openapi'

/**
 * @param {string} folder
 * @param {string} [built] a folder with the console and the portal of these sources. Default: they are built
 * @returns {Promise<BundledPackage[]>} all packages of others in it
 */
export async function writePacked(folder, built) {
  if (built !== undefined) return writeWith(built, folder)
  const made = await mkdtemp(join(tmpdir(), 'fantail-console-'))
  try {
    await promisify(execFile)(process.execPath, [at('packages/console/build/bundle.ts'), '--out', made])
    return await writeWith(made, folder)
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** @param {string} built @param {string} folder */
async function writeWith(built, folder) {
  const packages = await writeServer(join(folder, 'server'), {
    mains: { cli: 'packages/command-line/src/main.ts', build: 'packages/runtime/src/health/build.ts' },
    others: [...(await consolePackages(built)), ...(await scalarPackages())],
  })
  const pages = join(folder, 'server/packages/console/dist')
  await cp(built, pages, { recursive: true, filter: (path) => !path.endsWith(LICENCES) })
  await cp(join(scalarFolder(), 'dist/browser/standalone.js'), join(folder, 'server', DOCS, 'scalar.js'))
  await writeLauncher(join(folder, 'bin'))
  return packages
}

/** @param {string} made the console and, in a folder of it, the portal */
async function consolePackages(made) {
  const lists = [made, join(made, 'portal')].map((folder) => join(folder, LICENCES, 'licences.json'))
  const texts = await Promise.all(lists.map((list) => readFile(list, 'utf8')))
  return texts
    .flatMap((text) => JSON.parse(text))
    .map(({ name, version, identifier, text }) => ({ name, version, license: identifier, text: text ?? '' }))
}

/** In a checkout the launcher runs sources, which need flags of Node. @param {string} bin */
async function writeLauncher(bin) {
  const launcher = await readFile(at('infra/bin/fantail.mjs'), 'utf8')
  const file = join(bin, 'fantail.mjs')
  await mkdir(bin, { recursive: true })
  await writeFile(file, launcher.replace(/^#!.*/, '#!/usr/bin/env node'))
  await chmod(file, 0o755)
}
