// @ts-check
/** The next version, and the texts of files that name it. Nothing here reads or writes a file. */

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/
const STEPS = ['major', 'minor', 'patch']

/**
 * `wanted`: a version, or the part of the version that grows. Without it, the first release has the version that the
 * files name. A later release has the next minor version.
 * @param {string} current @param {string | undefined} wanted @param {boolean} isReleased whether `current` has a tag
 */
export function nextVersion(current, wanted, isReleased) {
  const choice = wanted ?? (isReleased ? 'minor' : current)
  if (!STEPS.includes(choice)) {
    if (!VERSION.test(choice)) throw new TypeError(`a version is X.Y.Z, ${STEPS.join(', ')}, not ${choice}`)
    if (compare(choice, current) < 0) throw new TypeError(`${choice} is older than ${current}`)
    return choice
  }
  const parts = numbersOf(current)
  const at = STEPS.indexOf(choice)
  return parts.map((part, index) => (index < at ? part : index === at ? part + 1 : 0)).join('.')
}

/** @param {string} version */
function numbersOf(version) {
  const parts = VERSION.exec(version)?.slice(1).map(Number)
  if (!parts) throw new TypeError(`${version} is no version`)
  return parts
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  const [left, right] = [numbersOf(a), numbersOf(b)]
  const at = left.findIndex((part, index) => part !== right[index])
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}

const UNRELEASED = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m

/**
 * Moves the entries of `Unreleased` below the new version.
 * @param {string} changelog @param {string} version @param {string} date as 2026-01-31
 * @returns {{ text: string, section: string }} `section`: the text about the new version
 */
export function releasedChangelog(changelog, version, date) {
  const section = UNRELEASED.exec(changelog)?.[1]?.trim()
  if (!section) throw new TypeError('CHANGELOG.md has nothing below `## Unreleased`')
  if (changelog.includes(`\n## ${version} `)) throw new TypeError(`CHANGELOG.md has ${version} already`)
  const heading = `## Unreleased\n\n## ${version} (${date})\n\n`
  const text = changelog.replace(UNRELEASED, () => `${heading}${section}\n\n`)
  return { text: `${text.trimEnd()}\n`, section }
}

/**
 * The text of a package.json, a Dockerfile or a Chart.yaml with the new version. Throws if it does not name the old one
 * exactly once in each place.
 * @param {string} path @param {string} text @param {{ from: string, to: string }} versions
 */
export function withVersion(path, text, { from, to }) {
  return marksOf(path, from).reduce((made, mark) => {
    if (made.split(mark).length !== 2)
      throw new TypeError(`${path} does not name version ${from}, as all others do`)
    return made.replace(mark, mark.replace(from, to))
  }, text)
}

/** @param {string} path @param {string} version */
function marksOf(path, version) {
  if (path.endsWith('.json')) return [`"version": "${version}"`]
  if (path.endsWith('.yaml')) return [`\nversion: ${version}\n`, `\nappVersion: ${version}\n`]
  return [`image.version=${version}`]
}
