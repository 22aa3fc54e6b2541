// @ts-check
/** The packages of others in a bundle, with their licences. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * `license`: its SPDX expression, if the package names one.
 * @typedef {{ name: string, version: string, license?: string, text: string }} BundledPackage
 */

/**
 * A package must name its licence or contain its text. Otherwise it must not be in a bundle.
 * @param {string[]} modules paths of the modules @returns {BundledPackage[]}
 */
export function packagesOf(modules) {
  const folders = new Set(
    modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  )
  return [...folders].map(packageIn)
}

/** @param {string} folder @returns {BundledPackage} */
export function packageIn(folder) {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) throw new Error(`${folder} has no package.json`)
  const { name, version, license } = JSON.parse(readFileSync(manifest, 'utf8'))
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copying)/i.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), 'utf8').trim())
  if (!license && texts.length === 0) throw new Error(`${name} has no licence`)
  return { name, version, license, text: texts.join('\n\n') }
}

/**
 * One of each, in order of their names: two bundles may contain the same package.
 * @param {BundledPackage[]} packages
 */
export function sortedPackages(packages) {
  const byName = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]))
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

/** The text of the notices: one section for each package. @param {BundledPackage[]} packages */
export function noticesOf(packages) {
  const sections = packages.map(({ name, version, license, text }) =>
    [`${'='.repeat(80)}`, `${name} ${version} (${license})`, '', text, ''].join('\n'),
  )
  return sections.join('\n')
}
