/**
 * Keeps the bundle of the services for a run of tests, which starts some 400 of them. The bundle is made again for each
 * run, and the code is the same. `tests/e2e/happy-path.test.ts` starts all services from source.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FOLDER = join(ROOT, 'node_modules/.cache/services')
/** Set for the processes of a run. Without it, services start from source. */
const VARIABLE = 'FANTAIL_TEST_BUNDLES'
/** Bundles of other states of the code. A run in the same checkout may still use one. */
const KEPT_MS = 86_400_000
/** Makes the bundles for processes that this process starts from now on. */
export async function provideBundles(): Promise<void> {
  process.env[VARIABLE] = await bundleServices(FOLDER)
}

/** The folder that `provideBundles` has made, with `<service>.mjs`. */
export function bundledServices(): string | undefined {
  return process.env[VARIABLE]
}

/** The bundle of a service. */
export function bundleOf(service: string): string | undefined {
  const folder = bundledServices()
  return folder === undefined ? undefined : join(folder, `${service}.mjs`)
}

/** Returns the folder with `<service>.mjs`. Its name is a hash of its files, so the same code is compiled only once. */
async function bundleServices(into: string): Promise<string> {
  // Only the process that makes the bundle loads the bundler.
  const { bundleForHere } = await import('../../../infra/bundle/bundle-services.ts')
  const { files } = await bundleForHere()
  const hash = createHash('sha256')
  for (const { fileName, text } of files) hash.update(`${fileName}\n${text}\n`)
  const folder = join(into, hash.digest('hex').slice(0, 16))
  await mkdir(into, { recursive: true })
  await removeOld(into)
  if (existsSync(folder)) return folder
  // Another run may make the same bundle at this moment. A folder appears whole or not at all.
  const temporary = await mkdtemp(join(into, 'new-'))
  for (const { fileName, text } of files) await writeFile(join(temporary, fileName), text)
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
