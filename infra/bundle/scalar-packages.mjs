// @ts-check
/**
 * The packages of others inside the single file of `@scalar/api-reference`. They are not installed, so that
 * scalar-licences.json has their licences. `node infra/bundle/scalar-packages.mjs` writes it anew after an update of
 * Scalar, from the packages on npm.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { packageIn, sortedPackages } from './bundled-packages.mjs'

/** @typedef {import('./bundled-packages.mjs').BundledPackage} BundledPackage */
/**
 * Many packages have the same text. `text`: its position in `texts`.
 * @typedef {{ texts: string[], packages: { name: string, version: string, license: string, text: number }[] }} Licences
 */

/** The module of the API's documentation page, which shows Scalar's. */
const DOCS_MODULE = new URL('../../services/publish-api/src/openapi/docs-routes.ts', import.meta.url)
const LICENCES = fileURLToPath(new URL('scalar-licences.json', import.meta.url))
const run = promisify(execFile)

/** Throws if there is a package whose licence is not known. @returns {Promise<BundledPackage[]>} with Scalar's own */
export async function scalarPackages() {
  const folder = scalarFolder()
  /** @type {Licences} */
  const { texts, packages } = JSON.parse(await readFile(LICENCES, 'utf8'))
  const known = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]))
  const found = (await namesIn(folder)).map((name) => {
    const one = known.get(name)
    if (!one)
      throw new Error(`the licence of ${name} is not known: run node infra/bundle/scalar-packages.mjs`)
    return { ...one, text: texts[one.text] ?? '' }
  })
  return [packageIn(folder), ...found]
}

/** The folder of the installed package. */
export function scalarFolder() {
  const { resolve } = createRequire(DOCS_MODULE)
  return resolve('@scalar/api-reference').replace(/\/dist\/.*$/, '')
}

/** Names and versions from the paths of the sources in the source map. @param {string} folder */
async function namesIn(folder) {
  const map = await readFile(join(folder, 'dist/browser/standalone.js.map'), 'utf8')
  /** @type {{ sources: string[] }} */
  const { sources } = JSON.parse(map)
  const names = sources.flatMap((source) => {
    const [, name, version] = /.*\/\.pnpm\/((?:@[^+/]+\+)?[^@/]+)@([^_/(]+)/.exec(source) ?? []
    return name && version ? `${name.replace('+', '/')}@${version}` : []
  })
  if (names.length === 0) throw new Error(`the source map in ${folder} names no packages`)
  return [...new Set(names)].sort()
}

async function writeLicences() {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-licences-'))
  try {
    const names = await namesIn(scalarFolder())
    await run('npm', ['pack', '--silent', '--pack-destination', folder, ...names])
    const packages = []
    for (const file of await readdir(folder)) packages.push(await unpacked(join(folder, file)))
    const sorted = sortedPackages(packages)
    const texts = [...new Set(sorted.map(({ text }) => text))]
    const rows = sorted.map((one) => ({ ...one, text: texts.indexOf(one.text) }))
    await writeFile(LICENCES, `${JSON.stringify({ texts, packages: rows }, undefined, 2)}\n`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** @param {string} archive */
async function unpacked(archive) {
  const folder = await mkdtemp(`${archive}-`)
  await run('tar', ['-xzf', archive, '-C', folder, '--strip-components', '1'])
  const found = packageIn(folder)
  await rm(folder, { recursive: true })
  await rm(archive)
  return found
}

if (import.meta.main) await writeLicences()
