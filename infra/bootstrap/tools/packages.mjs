// @ts-check
/**
 * Installs packages, including the pinned Node. The stamp of the last install shows if lockfile and manifests are
 * unchanged; then nothing is installed. So a start needs no network, and saves the second that an install without
 * changes would take.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolEnvironment, toolsDir, writableHome } from '../environment.mjs'
import { withLock } from '../lock.mjs'
import { binDir, privateDir, root } from '../paths.mjs'
import { capture, lastWords, onPath, StepError, say, show, withProgress } from '../steps.mjs'

const stampFile = join(root, 'node_modules', '.fantail-stamp')

/** The registry that made the lockfile may lack binaries of these tools for other platforms. */
const nativeTools = [
  { command: 'turbo', package: 'turbo' },
  { command: 'biome', package: '@biomejs/biome' },
]

/**
 * Installs what is missing. Rejects with a StepError that names the command.
 * @param {NodeJS.ProcessEnv} env
 */
export async function installPackages(env) {
  if (isUpToDate()) return
  const onWait = () => say('another install runs in this folder, waiting for it')
  await withLock(join(privateDir, 'install.lock'), () => install(env), { onWait })
}

function isUpToDate() {
  if (!existsSync(join(binDir, 'node')) || !existsSync(stampFile)) return false
  return readFileSync(stampFile, 'utf8') === stamp()
}

/** @param {NodeJS.ProcessEnv} env */
async function install(env) {
  if (isUpToDate()) return
  const { command, args } = installer(env)
  say('installing pnpm, the pinned Node and all packages into node_modules (once per change of the lockfile)')
  say([command, ...args].join(' '))
  // With CI set, pnpm does not ask before it replaces a node_modules of another version.
  const installing = show(command, args, { cwd: root, env: { ...env, ...writableHome(env), CI: 'true' } })
  const code = await withProgress('installing packages', installing)
  if (code !== 0) {
    throw new StepError(
      `installing packages failed (exit code ${code}): ${[command, ...args].join(' ')}\n` +
        '  The lines above say why. It needs the npm registry (`npm config get registry`) and a folder that this ' +
        `user can write (${root}).`,
    )
  }
  rmSync(toolsDir, { recursive: true, force: true })
  await completeTools(toolEnvironment(env))
  writeFileSync(stampFile, stamp())
  say('packages are installed')
}

/** @param {NodeJS.ProcessEnv} env */
function installer(env) {
  const args = ['install', '--frozen-lockfile']
  const path = env.PATH
  if (onPath('npx', path)) return { command: 'npx', args: ['--yes', '--prefer-offline', 'pnpm@12', ...args] }
  if (onPath('pnpm', path)) return { command: 'pnpm', args }
  throw new StepError('neither npx nor pnpm is on PATH; install Node 18 or newer together with npm')
}

/** @param {NodeJS.ProcessEnv} env */
async function completeTools(env) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const missing = []
  for (const tool of nativeTools) {
    const { code } = await capture(tool.command, ['--version'], { env, cwd: root })
    if (code !== 0) missing.push(`${tool.package}@${devDependencies[tool.package]}`)
  }
  if (missing.length === 0) return
  say(`the lockfile has no binary for ${process.platform} ${process.arch} of ${missing.join(', ')}: by npm`)
  const args = ['install', '--prefix', toolsDir, '--no-save', '--no-audit', '--no-fund', ...missing]
  const done = await withProgress('installing tools', capture('npm', args, { env, cwd: privateDir }))
  if (done.code !== 0) throw new StepError(`npm ${args.join(' ')} failed:\n${lastWords(done)}`)
}

/** A digest of all inputs of an install. */
function stamp() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

/** package.json of the root, and of folders one and two levels below it. */
function manifests() {
  const folders = (/** @type {string} */ dir) =>
    readdirSync(join(root, dir), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !/^(node_modules|dist|\..*)$/.test(entry.name))
      .map((entry) => join(dir, entry.name))
      .sort()
  const level1 = folders('.')
  return ['.', ...level1, ...level1.flatMap(folders)]
    .map((dir) => join(dir, 'package.json'))
    .filter((file) => existsSync(join(root, file)))
}
