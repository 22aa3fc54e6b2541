// @ts-check
/**
 * Unpacks Debian packages without installing them and without root: apt with its own lists and archives, `dpkg -x`, and
 * a wrapper per command that points the loader at the unpacked libraries. It uses the machine's sources, proxies and
 * certificates. It only reads the machine's package state, and runs none of its hooks.
 *
 * Everything is made next to the destination and renamed into place. A crash leaves nothing half made, and two runs at
 * once are safe.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { capture, lastWords, StepError } from '../steps.mjs'

/**
 * `alone` leaves out all dependencies of the packages, for commands that need none. `places`: folders of the commands.
 * @typedef {{ packages: string[], commands: string[], dir: string, alone?: boolean, places?: string[],
 *   env: NodeJS.ProcessEnv }} Wanted
 * @typedef {(command: string, args: string[]) => Promise<string>} Run
 */

/** Folders of commands, in the packages. */
const PLACES = ['usr/bin', 'usr/sbin', 'bin']

/** apt reads these settings last, so they override the settings of the machine. */
const APT_SETTINGS = [
  '#clear APT::Update::Pre-Invoke;',
  '#clear APT::Update::Post-Invoke;',
  '#clear APT::Update::Post-Invoke-Success;',
  'Acquire::Languages "none";',
  'Acquire::Retries "2";',
  'Acquire::http::Timeout "15";',
  'Acquire::https::Timeout "15";',
  // If root runs apt, apt would change to a user that cannot write here.
  'APT::Sandbox::User "root";',
  'Debug::NoLocking "true";',
]

/**
 * Fills `dir/root` with the packages and what they need beyond this system, and `dir/bin` with the commands. Rejects
 * with a StepError that holds what apt said.
 * @param {Wanted} wanted
 */
export async function unpackDebianPackages(wanted) {
  const made = `${wanted.dir}.${process.pid}`
  rmSync(made, { recursive: true, force: true })
  try {
    await fill(made, wanted)
    putInPlace(made, wanted.dir)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** @param {string} made @param {Wanted} wanted */
async function fill(made, { packages, commands, alone, places = PLACES, env }) {
  const apt = join(made, 'apt')
  for (const dir of ['lists/partial', 'archives/partial', 'debs'])
    mkdirSync(join(apt, dir), { recursive: true })
  writeFileSync(join(apt, 'status'), '')
  writeFileSync(join(apt, 'apt.conf'), [...APT_SETTINGS, ...privateFolders(apt)].join('\n'))
  const run = runner({ ...env, LC_ALL: 'C' }, join(apt, 'debs'))
  const words = ['-c', join(apt, 'apt.conf'), '-q']
  // If a source does not answer, another source may still have all packages.
  const update = await capture('apt-get', [...words, 'update'], { env })
  try {
    const names = alone ? packages : await neededPackages(run, words, packages)
    await run('apt-get', [...words, 'download', ...names])
  } catch (error) {
    if (update.code === 0 || !(error instanceof StepError)) throw error
    throw new StepError(`${error.message}\n(before, apt-get update said: ${lastWords(update)})`)
  }
  for (const deb of readdirSync(join(apt, 'debs'))) {
    await run('dpkg', ['-x', join(apt, 'debs', deb), join(made, 'root')])
  }
  writeWrappers(made, commands, places)
  for (const command of commands) await run(join(made, 'bin', command), ['--version'])
  rmSync(apt, { recursive: true, force: true })
}

/** @param {string} apt */
function privateFolders(apt) {
  return [
    `Dir::State::Lists "${apt}/lists";`,
    `Dir::State::status "${apt}/status";`,
    `Dir::Cache "${apt}";`,
    `Dir::Cache::Archives "${apt}/archives";`,
    'Dir::Cache::pkgcache "";',
    'Dir::Cache::srcpkgcache "";',
  ]
}

/** @param {NodeJS.ProcessEnv} env @param {string} cwd @returns {Run} */
function runner(env, cwd) {
  return async (command, args) => {
    const done = await capture(command, args, { env, cwd })
    if (done.code === 0) return done.stdout
    const errors = done.stderr.split('\n').filter((line) => line.startsWith('E: '))
    throw new StepError(`${command} ${args.join(' ')}: ${errors.join('; ') || lastWords(done)}`)
  }
}

/**
 * The packages and their dependencies, without the packages that this system has. apt plans for an empty system. For
 * the real system it would refuse to plan if any other package is broken.
 * @param {Run} run @param {string[]} words @param {string[]} packages
 */
async function neededPackages(run, words, packages) {
  const plan = await run('apt-get', [
    ...words,
    '--simulate',
    '--no-install-recommends',
    'install',
    ...packages,
  ])
  const architecture = (await run('dpkg', ['--print-architecture'])).trim()
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholders
  const here = await run('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package} ${Architecture}\\n'])
  const installed = new Set(
    here
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([status, , of]) => status === 'installed' && (of === architecture || of === 'all'))
      .map(([, name]) => name),
  )
  const planned = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? '')
  return [...new Set([...packages, ...planned.filter((name) => !installed.has(name))])]
}

/** @param {string} made @param {string[]} commands @param {string[]} places */
function writeWrappers(made, commands, places) {
  mkdirSync(join(made, 'bin'))
  for (const command of commands) {
    const dir = places.find((place) => existsSync(join(made, 'root', place, command)))
    if (!dir) throw new StepError(`the packages hold no ${command}`)
    writeFileSync(join(made, 'bin', command), wrapper(join(dir, command), libraryDirs(made)), { mode: 0o755 })
  }
}

/** @param {string} made @returns {string[]} relative to `root` */
function libraryDirs(made) {
  return ['usr/lib', 'lib'].flatMap((lib) => {
    const dir = join(made, 'root', lib)
    if (!existsSync(dir)) return []
    const ofMachine = readdirSync(dir)
      .filter((name) => name.includes('-linux-'))
      .map((name) => join(lib, name))
    // One library of Debian has a folder of its own. Its user expects that folder at its path in an installed system.
    const own = ofMachine
      .map((name) => join(name, 'pulseaudio'))
      .filter((name) => existsSync(join(made, 'root', name)))
    return [lib, ...ofMachine, ...own]
  })
}

/** @param {string} command @param {string[]} libraries */
function wrapper(command, libraries) {
  const path = libraries.map((dir) => `$root/${dir}`).join(':')
  return [
    '#!/bin/sh',
    '# Runs an unpacked binary with the libraries unpacked beside it, wherever this folder stands.',
    'root=$(CDPATH= cd -- "$(dirname -- "$0")/../root" && pwd) || exit 127',
    `LD_LIBRARY_PATH="${path}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
    'export LD_LIBRARY_PATH',
    `exec "$root/${command}" "$@"`,
    '',
  ].join('\n')
}

/** @param {string} made @param {string} dir */
function putInPlace(made, dir) {
  mkdirSync(dirname(dir), { recursive: true })
  const old = join(dirname(dir), `${basename(dir)}.old.${process.pid}`)
  if (existsSync(dir)) renameSync(dir, old)
  try {
    renameSync(made, dir)
  } catch (error) {
    // Another process was faster. Its result is as good.
    if (!['ENOTEMPTY', 'EEXIST'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? ''))
      throw error
  } finally {
    rmSync(old, { recursive: true, force: true })
  }
}
