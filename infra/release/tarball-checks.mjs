// @ts-check
/**
 * The published packages, and checks of a packed one: name, licence, README, entries that exist, and dependencies that
 * others can install.
 */

/**
 * @typedef {{ name: string, version: string, license?: string, exports?: unknown, bin?: Record<string, string>,
 *   dependencies?: Record<string, string>, private?: boolean }} PackedManifest
 */

/**
 * Only its owner can publish below it on npm. Nothing is published under a name without a scope: `fantail` on npm is
 * somebody else's package.
 */
export const SCOPE = '@fantail'

/** Folders in `packages/`, which are called like the packages. The client comes first: the others depend on it. */
export const PUBLISHED = ['client', 'consumer', 'testing', 'cli']

const LICENSE = 'Apache-2.0'
const TEXTS = ['LICENSE', 'README.md', 'package.json']
/** A condition that is only for this repository. It names sources, which are not packed. */
const OWN_CONDITION = '@fantail/source'
const INSIDE = /\.test\.|\.fixture\.|^src\/|^build\/|\.tsbuildinfo$/

/**
 * The problems, in words. Empty: it can be published.
 * @param {PackedManifest} manifest of the tarball @param {string[]} files paths in the tarball @param {string} version
 */
export function tarballProblems(manifest, files, version) {
  const has = new Set(files)
  const entries = [...targetsOf(manifest.exports), ...Object.values(manifest.bin ?? {})]
  const missing = entries.map((path) => path.replace(/^\.\//, '')).filter((path) => !has.has(path))
  return [
    ...(manifest.private ? ['is private'] : []),
    ...(manifest.name.startsWith(`${SCOPE}/`) ? [] : [`is not below ${SCOPE}`]),
    ...(manifest.version === version ? [] : [`has version ${manifest.version}`]),
    ...(manifest.license === LICENSE ? [] : [`has the licence ${manifest.license}, not ${LICENSE}`]),
    ...TEXTS.filter((path) => !has.has(path)).map((path) => `has no ${path}`),
    ...(entries.length === 0 ? ['has neither exports nor bin'] : []),
    ...missing.map((path) => `names ${path}, which is not in it`),
    ...files.filter((path) => INSIDE.test(path)).map((path) => `has ${path}`),
    ...Object.entries(manifest.dependencies ?? {})
      .filter(([, range]) => /^(workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `depends on ${name} ${range}`),
  ].map((problem) => `${manifest.name} ${problem}`)
}

/** @param {unknown} exported @returns {string[]} */
function targetsOf(exported) {
  if (typeof exported === 'string') return [exported]
  if (typeof exported !== 'object' || exported === null) return []
  return Object.entries(exported).flatMap(([condition, target]) =>
    condition === OWN_CONDITION ? [] : targetsOf(target),
  )
}
