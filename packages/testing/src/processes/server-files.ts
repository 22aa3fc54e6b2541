/** Finds the services: those that come with this package, or the sources of a checkout of Fantail. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export type ServiceName = 'publish-api' | 'delivery-worker' | 'redrive'

const PACKAGE = '@fantail/testing'
const CONDITION = '--conditions=@fantail/source'

export interface ServerFiles {
  folder: string
  /** The words after `node` that start the service. */
  wordsOf(service: ServiceName): string[]
  /** Settings that these files need. */
  settings: Record<string, string>
}

/**
 * `given`: a folder of built services, or of a checkout. Default: the services of this package. In a checkout of
 * Fantail these are its sources, which are never older.
 */
export function findServer(given?: string): ServerFiles {
  if (given !== undefined) {
    const folder = resolve(given)
    const found = built(folder) ?? checkout(folder)
    if (found) return found
    throw new TypeError(`server: ${folder} holds neither a checkout of Fantail nor built services`)
  }
  const own = packageFolder()
  const found = checkout(resolve(own, '../..')) ?? built(join(own, 'dist', 'server'))
  if (found) return found
  throw new Error(
    `${own} holds no services. Give startFantail the folder of a checkout of Fantail: { server: '../fantail' }`,
  )
}

function built(folder: string): ServerFiles | undefined {
  const fileOf = (service: ServiceName) => join(folder, `${service}.mjs`)
  if (!existsSync(fileOf('publish-api'))) return undefined
  // The built services do not include the console and its files.
  return { folder, wordsOf: (service) => [fileOf(service)], settings: { FANTAIL_CONSOLE: 'off' } }
}

function checkout(folder: string): ServerFiles | undefined {
  const fileOf = (service: ServiceName) => join(folder, 'services', service, 'src', 'main.ts')
  if (!existsSync(fileOf('publish-api'))) return undefined
  return { folder, wordsOf: (service) => [CONDITION, fileOf(service)], settings: {} }
}

/**
 * The folder of this package, from sources, from `dist`, and from the CommonJS form. That form has a package.json
 * without a name.
 */
function packageFolder(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  for (let folder = start; ; folder = dirname(folder)) {
    if (nameOf(join(folder, 'package.json')) === PACKAGE) return folder
    if (dirname(folder) === folder) throw new Error(`${start} is not in the folder of ${PACKAGE}`)
  }
}

function nameOf(manifest: string): string | undefined {
  return existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as { name?: string }).name
    : undefined
}
