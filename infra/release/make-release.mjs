// @ts-check
/**
 * `npm run release -- [VERSION | major | minor | patch]`: one version in all files, the changelog, the artifacts, and
 * at the end a commit and a tag. Everything is made in a separate work tree. This work tree changes only after
 * everything has worked. Nothing is pushed or published.
 *
 * `--dry-run` neither commits nor tags. With `--only npm` it makes the npm packages alone. `--check` is a dry run that
 * makes everything twice, compares the bytes, and tries each artifact on an empty machine. It needs root, Debian's
 * debootstrap, lintian, nginx and caddy, and what infra/helm/check.mjs needs. `--sign KEY` signs the checksums by
 * cosign.
 */
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { privateDir, root } from '../bootstrap/paths.mjs'
import { run, StepError, say, show } from '../bootstrap/steps.mjs'
import { checkRelease } from './check-release.mjs'
import { figureProblems } from './figures-check.mjs'
import { nextVersion, releasedChangelog, withVersion } from './release-version.mjs'
import { signRelease } from './sign-release.mjs'

const MANIFESTS = [
  'package.json',
  '{packages,services}/*/package.json',
  'infra/package.json',
  'infra/receiver/package.json',
  'tests/package.json',
]
const OTHERS = ['infra/docker/Dockerfile', 'infra/helm/fantail/Chart.yaml']
const flag = { type: /** @type {const} */ ('boolean') }

const text = { type: /** @type {const} */ ('string') }

const USAGE =
  'usage: npm run release -- [VERSION | major | minor | patch] [--dry-run [--only npm] | --check] [--sign KEY]'

try {
  await release(wordsOf(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof StepError || error instanceof TypeError)) throw error
  console.error(`fantail: ${error.message}`)
  process.exitCode = 1
}

/** @param {string[]} args */
function wordsOf(args) {
  const flags = { 'dry-run': flag, check: flag, only: text, sign: text }
  try {
    const { values, positionals } = parseArgs({ args, options: flags, allowPositionals: true })
    if (positionals.length > 1) throw new TypeError('there is more than one version')
    const { check: isCheck = false, sign: key, only } = values
    const isDryRun = isCheck || values['dry-run'] === true
    if (only !== undefined && only !== 'npm') throw new TypeError('--only takes npm')
    if (only && (isCheck || !isDryRun))
      throw new TypeError('--only npm needs --dry-run, as it makes no whole release')
    return { wanted: positionals[0], isCheck, isDryRun, key, only }
  } catch (error) {
    throw new StepError(`${error instanceof Error ? error.message : error}\n${USAGE}`)
  }
}

/** @param {ReturnType<typeof wordsOf>} words */
async function release({ wanted, isDryRun, isCheck, key, only }) {
  const from = versionOf(root)
  const version = nextVersion(from, wanted, await hasTag(`v${from}`))
  const tag = `v${version}`
  if (await hasTag(tag)) throw new StepError(`there is a tag ${tag} already`)
  if (!isDryRun && (await run('git', ['status', '--porcelain'], { cwd: root })) !== '')
    throw new StepError('commit or stash your changes first: a release is made of what is committed')
  await checkFigures(isDryRun)
  const output = join(privateDir, 'release', version)
  const versions = { from, to: version }
  await inWorkTree(versions, async (tree, section) => {
    if (!isDryRun) await run('git', ['commit', '--all', '--message', `Release ${version}`], { cwd: tree })
    await makeArtifacts(tree, output, section, only)
    if (key) await signRelease(output, key)
    if (!isDryRun) await keep(tree, tag)
  })
  if (isCheck) {
    const again = `${output}-again`
    await inWorkTree(versions, (tree, section) => makeArtifacts(tree, again, section))
    await checkRelease(output, again)
  }
  tell({ output, tag, isDryRun })
}

/** @param {boolean} isDryRun */
async function checkFigures(isDryRun) {
  const problems = await figureProblems(root)
  if (problems.length === 0) return
  const text = `${problems.join('\n')}\n\`npm run bench -- all --write\` measures the figures again`
  if (!isDryRun) throw new StepError(text)
  say(`a release would be refused:\n${text}`)
}

/**
 * @param {{ from: string, to: string }} versions
 * @param {(tree: string, section: string) => Promise<void>} use `section`: the changelog's text about the version
 */
async function inWorkTree(versions, use) {
  const tree = mkdtempSync(join(tmpdir(), 'fantail-release-'))
  try {
    await run('git', ['worktree', 'add', '--detach', tree, 'HEAD'], { cwd: root })
    const section = writeVersion(tree, versions)
    say(`installing what version ${versions.to} is packed with`)
    await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], { cwd: tree })
    await use(tree, section)
  } finally {
    await run('git', ['worktree', 'remove', '--force', tree], { cwd: root })
  }
}

/** @param {string} tree @param {string} output @param {string} section @param {string} [only] */
async function makeArtifacts(tree, output, section, only) {
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  writeFileSync(join(output, 'notes.md'), `${section}\n`)
  const words = only === undefined ? [output] : [output, only]
  const code = await show('node', ['infra/release/make-artifacts.mjs', ...words], { cwd: tree })
  if (code !== 0) throw new StepError('making the artifacts failed, as the lines above say')
}

/** @param {string} folder */
function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}

/** @param {string} tag */
async function hasTag(tag) {
  return (await run('git', ['tag', '--list', tag], { cwd: root })) !== ''
}

/**
 * @param {string} tree @param {{ from: string, to: string }} versions
 * @returns {string} what is new
 */
function writeVersion(tree, versions) {
  for (const path of [...globSync(MANIFESTS, { cwd: tree, exclude: ['**/node_modules/**'] }), ...OTHERS]) {
    const file = join(tree, path)
    writeFileSync(file, withVersion(path, readFileSync(file, 'utf8'), versions))
  }
  const file = join(tree, 'CHANGELOG.md')
  const today = new Date().toISOString().slice(0, 10)
  const { text, section } = releasedChangelog(readFileSync(file, 'utf8'), versions.to, today)
  writeFileSync(file, text)
  return section
}

/**
 * Moves the branch to the commit from which the artifacts are made.
 * @param {string} tree
 * @param {string} tag
 */
async function keep(tree, tag) {
  const made = await run('git', ['rev-parse', 'HEAD'], { cwd: tree })
  await run('git', ['merge', '--ff-only', made], { cwd: root })
  await run('git', ['tag', '--annotate', tag, '--message', `Fantail ${tag.slice(1)}`, made], { cwd: root })
}

/** @param {{ output: string, tag: string, isDryRun: boolean }} made */
function tell({ output, tag, isDryRun }) {
  const tarballs = readdirSync(output).filter((name) => name.endsWith('.tgz'))
  say(`${isDryRun ? 'would release' : 'released'} ${tag}; ${output} has`)
  for (const name of readdirSync(output)) console.log(`  ${name}`)
  if (isDryRun) console.log('Nothing was changed, committed or tagged.')
  else {
    console.log(`To publish:\n  git push --follow-tags`)
    for (const name of tarballs) console.log(`  npm publish --access public ${join(output, name)}`)
  }
}
