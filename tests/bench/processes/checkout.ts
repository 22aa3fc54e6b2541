/** A checkout of a commit in a temporary folder, with the packages that its own tree asks for. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Progress goes to stderr, because stdout has results only. */
const STDERR = 2

/** The full name of the commit. Throws if the repository has none of this name. */
export function commitOf(revision: string, repository = ROOT): string {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
  const { status, stdout, error } = spawnSync('git', words, { cwd: repository, encoding: 'utf8' })
  if (error) throw new Error(`git could not be started: ${error.message}`)
  if (status !== 0) throw new Error(`the repository ${repository} has no commit ${revision}`)
  return stdout.trim()
}

/**
 * Lends a checkout to `use` and removes it at the end, however the process ends. A clone that shares the objects leaves
 * nothing behind in the repository, as a work tree would.
 */
export async function withCheckout<T>(
  commit: string,
  use: (folder: string) => Promise<T>,
  repository = ROOT,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'fantail-checkout-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    run('git', ['clone', '--quiet', '--shared', '--no-checkout', repository, folder], folder)
    run('git', ['checkout', '--quiet', '--detach', commit], folder)
    install(folder)
    return await use(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

/** Runs the tree's own installer, the first step of `npm start`. Its place differs between trees. */
function install(folder: string): void {
  const [installer] = globSync('infra/bootstrap/**/packages.mjs', { cwd: folder })
  if (installer === undefined) throw new Error('the commit has no packages.mjs in infra/bootstrap')
  const code = 'const { installPackages } = await import(process.argv[1]); await installPackages(process.env)'
  const address = pathToFileURL(join(folder, installer)).href
  run(process.execPath, ['--input-type=module', '--eval', code, '--', address], folder)
}

function run(command: string, words: string[], cwd: string): void {
  const { status, signal, error } = spawnSync(command, words, { cwd, stdio: ['ignore', STDERR, STDERR] })
  if (error) throw new Error(`${command} could not be started: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${signal ?? status}`)
}
