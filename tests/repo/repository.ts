/**
 * The repository for its own tests: manifests, files and imports, without installed packages and build results.
 * Generated code (`generated`) is left out too. Its form is the generator's, and a test holds that it is up to date.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Paths from the root, `/` between folders. */
export function filesMatching(pattern: string): string[] {
  const isSkipped = (path: string) => /(^|\/)(node_modules|dist|generated)(\/|$)/.test(path)
  return globSync(pattern, { cwd: ROOT, exclude: isSkipped })
    .filter((path) => !isSkipped(path))
    .toSorted()
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The `engines` of every manifest, and the oldest Node among them, such as 22.22. */
export const { engines: ENGINES } = JSON.parse(textOf('package.json')) as { engines: { node: string } }
export const NODE_MIN = /\d+\.\d+/.exec(ENGINES.node)?.[0] ?? ''

/** Addresses of the console's screens, as its router has them: `/topics/$topic`. */
export function consoleScreens(): string[] {
  const router = textOf('packages/console/src/router.tsx')
  return [...router.matchAll(/\bscreen\(\s*'([^']+)'/g)].map(([, path = '']) => path)
}

export interface Manifest {
  /** Folder from the root, e.g. `packages/store`. */
  folder: string
  name: string
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  /** Absent: the package is published, and its index is for other programs. */
  private?: boolean
}

export function manifests(): Manifest[] {
  return filesMatching('{packages,services,infra,tests}/{*/,}package.json').map((path) => {
    const manifest = JSON.parse(textOf(path)) as Manifest
    const { name, dependencies = {}, devDependencies = {}, private: isPrivate } = manifest
    const folder = path.slice(0, -'/package.json'.length)
    return { folder, name, dependencies, devDependencies, ...(isPrivate && { private: true }) }
  })
}

const folders = new Map(manifests().map(({ name, folder }) => [name, folder]))

interface Import {
  /** Path of the imported file from the root, or undefined if it is not in this repository. */
  file: string | undefined
  names: string[]
  /** The file is imported as one object, so any of its exports may be used. */
  isWhole: boolean
}

const FROM = /^\s*(?:import|export)\b([^'"`;=]*?)'([^']+)'|\bimport\('([^']+)'\)/gm

/** Static, type-only and dynamic imports, and exports from another file. */
export function importsOf(path: string): Import[] {
  return [...textOf(path).matchAll(FROM)].map(([, clause = '', from, dynamic]) => ({
    file: fileOf(path, from ?? dynamic ?? ''),
    names: namesIn(clause),
    isWhole: from === undefined || /[(*]/.test(clause),
  }))
}

function fileOf(path: string, name: string): string | undefined {
  const [scope, own, ...inside] = name.split('/')
  const folder = folders.get(`${scope}/${own}`)
  if (folder !== undefined) return `${folder}/src/${inside.join('/') || 'index'}.ts`
  const target = new URL(name, `file:///${path}`).pathname.slice(1)
  return name.startsWith('.') && existsSync(join(ROOT, target)) ? target : undefined
}

/** The names between braces, as the other file exports them. */
function namesIn(clause: string): string[] {
  const list = /\{([^}]*)\}/.exec(clause)?.[1] ?? ''
  const names = list.split(',').map((name) => name.trim().replace(/^type /, ''))
  return names.map((name) => name.split(' as ')[0] ?? '').filter((name) => name !== '')
}
