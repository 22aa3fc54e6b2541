/** The repository for its own tests: manifests and files, without installed packages and build results. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Paths from the root, `/` between folders. */
export function filesMatching(pattern: string): string[] {
  const isSkipped = (path: string) => /(^|\/)(node_modules|dist)(\/|$)/.test(path)
  return globSync(pattern, { cwd: ROOT, exclude: isSkipped })
    .filter((path) => !isSkipped(path))
    .toSorted()
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export interface Manifest {
  /** Folder from the root, e.g. `packages/store`. */
  folder: string
  name: string
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

export function manifests(): Manifest[] {
  return filesMatching('{packages,services,infra,tests}/{*/,}package.json').map((path) => {
    const { name, dependencies = {}, devDependencies = {} } = JSON.parse(textOf(path)) as Manifest
    return { folder: path.slice(0, -'/package.json'.length), name, dependencies, devDependencies }
  })
}
