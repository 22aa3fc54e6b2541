/**
 * Keeps a bundle of the services and of the command line for a run of tests, which starts hundreds of both. The bundle
 * is made again for each run, and the code is the same. It has the folders of @fantail/cli: the launcher is in `bin`,
 * and `server` has what it starts. `tests/e2e/happy-path.test.ts` starts all services from source, and
 * `infra/bin/fantail.test.ts` the launcher.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FOLDER = join(ROOT, 'node_modules/.cache/services')
const LAUNCHER = join(ROOT, 'infra/bin/fantail.mjs')
/** The launcher loads them, besides services. */
const MAINS = { cli: 'packages/command-line/src/main.ts', build: 'packages/runtime/src/health/build.ts' }
/** Set for the processes of a run. Without it, services start from source. */
const VARIABLE = 'FANTAIL_TEST_BUNDLES'
/** Bundles of other states of the code. A run in the same checkout may still use one. */
const KEPT_MS = 86_400_000
/** Makes the bundles for processes that this process starts from now on. */
export async function provideBundles(): Promise<void> {
  process.env[VARIABLE] = await bundleServices(FOLDER)
}

/** The folder of the bundles that `provideBundles` has made, with `<service>.mjs`. */
export function bundledServices(): string | undefined {
  const folder = process.env[VARIABLE]
  return folder === undefined ? undefined : join(folder, 'server')
}

/** The path of `fantail`: it starts the bundles or, without them, the sources. */
export function launcher(): string {
  const folder = process.env[VARIABLE]
  return folder === undefined ? LAUNCHER : join(folder, 'bin', basename(LAUNCHER))
}

/** The bundle of a service. */
export function bundleOf(service: string): string | undefined {
  const folder = bundledServices()
  return folder === undefined ? undefined : join(folder, `${service}.mjs`)
}

/** Returns the folder with both. Its name is a hash of its files, so the same code is compiled only once. */
async function bundleServices(into: string): Promise<string> {
  // Only the process that makes the bundle loads the bundler.
  const { bundleForHere } = await import('../../../infra/bundle/bundle-services.ts')
  const { files } = await bundleForHere(MAINS)
  const hash = createHash('sha256').update(await readFile(LAUNCHER))
  for (const { fileName, text } of files) hash.update(`${fileName}\n${text}\n`)
  const folder = join(into, hash.digest('hex').slice(0, 16))
  await mkdir(into, { recursive: true })
  await removeOld(into)
  if (existsSync(folder)) return folder
  // Another run may make the same bundle at this moment. A folder appears whole or not at all.
  const temporary = await mkdtemp(join(into, 'new-'))
  for (const name of ['bin', 'server']) await mkdir(join(temporary, name))
  await copyFile(LAUNCHER, join(temporary, 'bin', basename(LAUNCHER)))
  for (const { fileName, text } of files) await writeFile(join(temporary, 'server', fileName), text)
  await rename(temporary, folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    await rm(temporary, { recursive: true })
  })
  return folder
}

async function removeOld(into: string): Promise<void> {
  for (const name of await readdir(into)) {
    const folder = join(into, name)
    const found = await stat(folder).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > KEPT_MS) await rm(folder, { recursive: true, force: true })
  }
}
