/**
 * The bundles of the release before this one, from its tag. FANTAIL_UPGRADES_FROM names another commit. Before the
 * first tag there is no such release.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../repo/repository.ts'

const run = promisify(execFile)

/** Runs in the tree of the earlier release, with the bundler of that release. */
const BUNDLE = `
import { writeFile } from 'node:fs/promises'
import { bundleForHere } from './infra/bundle/bundle-services.ts'
for (const { fileName, text } of (await bundleForHere()).files) await writeFile(fileName, text)`

interface EarlierRelease {
  /** The folder of its bundles. */
  bundles: string
  remove(): Promise<void>
}

export async function earlierRelease(): Promise<string | undefined> {
  const { FANTAIL_UPGRADES_FROM: wanted } = process.env
  if (wanted) return wanted
  const { stdout } = await run('git', ['tag', '--list', 'v*', '--merged', 'HEAD~', '--sort=-v:refname'], {
    cwd: ROOT,
  })
  return stdout.split('\n')[0] || undefined
}

/** Its tree stays until the end of the test, because the bundles name the packages of the tree. */
export async function makeEarlier(commit: string): Promise<EarlierRelease> {
  const tree = await mkdtemp(join(tmpdir(), 'fantail-earlier-'))
  const remove = async () => {
    await run('git', ['worktree', 'remove', '--force', tree], { cwd: ROOT })
    await rm(tree, { recursive: true, force: true })
  }
  await run('git', ['worktree', 'add', '--detach', tree, commit], { cwd: ROOT })
  try {
    const options = { cwd: tree, maxBuffer: 2 ** 26 }
    await run('pnpm', ['install', '--frozen-lockfile', '--prefer-offline'], options)
    const words = ['--conditions=@fantail/source', '--input-type=module', '--eval', BUNDLE]
    await run(process.execPath, words, options)
  } catch (error) {
    await remove()
    throw error
  }
  return { bundles: tree, remove }
}
