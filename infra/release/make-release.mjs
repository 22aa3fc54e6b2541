// @ts-check
/**
 * `npm run release -- [VERSION | major | minor | patch] [--dry-run | --check]`: one version in all files, the
 * changelog, the artifacts, and at the end a commit and a tag. Everything is made in a separate work tree. This work
 * tree changes only after everything has worked. Nothing is pushed or published.
 * `--check` is a dry run that also tries every artifact. It needs root, Debian's debootstrap and lintian,
 * and what infra/helm/check.mjs needs.
 */
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateDir, root } from '../bootstrap/paths.mjs'
import { capture, lastWords, StepError, say, show } from '../bootstrap/steps.mjs'
import { nextVersion, releasedChangelog, withVersion } from './release-version.mjs'

const MANIFESTS = [
  'package.json',
  '{packages,services}/*/package.json',
  'infra/package.json',
  'infra/receiver/package.json',
  'tests/package.json',
]
const OTHERS = ['infra/docker/Dockerfile', 'infra/helm/fantail/Chart.yaml']

const words = process.argv.slice(2)
const isCheck = words.includes('--check')
const isDryRun = isCheck || words.includes('--dry-run')
const [wanted, ...tooMuch] = words.filter((word) => !['--dry-run', '--check'].includes(word))

try {
  if (tooMuch.length > 0 || wanted?.startsWith('-')) {
    throw new StepError('usage: npm run release -- [VERSION | major | minor | patch] [--dry-run | --check]')
  }
  await release()
} catch (error) {
  if (!(error instanceof StepError || error instanceof TypeError)) throw error
  console.error(`fantail: ${error.message}`)
  process.exitCode = 1
}

async function release() {
  const from = versionOf(root)
  const version = nextVersion(from, wanted, await hasTag(`v${from}`))
  const tag = `v${version}`
  if (await hasTag(tag)) throw new StepError(`there is a tag ${tag} already`)
  if (!isDryRun && (await run('git', ['status', '--porcelain'], root)) !== '')
    throw new StepError('commit or stash your changes first: a release is made of what is committed')
  const output = join(privateDir, 'release', version)
  rmSync(output, { recursive: true, force: true })
  mkdirSync(output, { recursive: true })
  const tree = mkdtempSync(join(tmpdir(), 'fantail-release-'))
  try {
    await run('git', ['worktree', 'add', '--detach', tree, 'HEAD'], root)
    const section = writeVersion(tree, { from, to: version })
    writeFileSync(join(output, 'notes.md'), `${section}\n`)
    say(`installing what version ${version} is packed with`)
    await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], tree)
    if (!isDryRun) await run('git', ['commit', '--all', '--message', `Release ${version}`], tree)
    const code = await show('node', ['infra/release/make-artifacts.mjs', output], { cwd: tree })
    if (code !== 0) throw new StepError('making the artifacts failed, as the lines above say')
    if (isCheck && (await show('node', ['infra/release/check-artifacts.mjs', output])) !== 0)
      throw new StepError('an artifact failed its check, as the lines above say')
    if (isCheck && (await show('node', ['infra/helm/check.mjs'])) !== 0)
      throw new StepError('the chart failed its check, as the lines above say')
    if (isCheck && (await show('npm', ['run', 'test:upgrades'])) !== 0)
      throw new StepError('two releases failed beside each other, as the lines above say')
    if (!isDryRun) await keep(tree, tag)
  } finally {
    await run('git', ['worktree', 'remove', '--force', tree], root)
  }
  tell(output, tag)
}

/** @param {string} folder */
function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}

/** @param {string} tag */
async function hasTag(tag) {
  return (await run('git', ['tag', '--list', tag], root)) !== ''
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
  const made = await run('git', ['rev-parse', 'HEAD'], tree)
  await run('git', ['merge', '--ff-only', made], root)
  await run('git', ['tag', '--annotate', tag, '--message', `Fantail ${tag.slice(1)}`, made], root)
}

/** @param {string} output @param {string} tag */
function tell(output, tag) {
  const tarballs = readdirSync(output).filter((name) => name.endsWith('.tgz'))
  say(`${isDryRun ? 'would release' : 'released'} ${tag}; ${output} has`)
  for (const name of readdirSync(output)) console.log(`  ${name}`)
  if (isDryRun) console.log('Nothing was changed, committed or tagged.')
  else {
    console.log(`To publish:\n  git push --follow-tags`)
    for (const name of tarballs) console.log(`  npm publish --access public ${join(output, name)}`)
  }
}

/**
 * @param {string} command @param {string[]} args @param {string} cwd
 * @returns {Promise<string>} what it printed
 */
async function run(command, args, cwd) {
  const finished = await capture(command, args, { cwd })
  if (finished.code === 0) return finished.stdout.trim()
  throw new StepError(`${command} ${args.join(' ')} failed in ${cwd}:\n${lastWords(finished)}`)
}
