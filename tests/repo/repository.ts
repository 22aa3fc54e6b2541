/**
 * The repository for its own tests: manifests and files, without installed packages and build results.
 * Generated code (`generated`) is left out too. Its form is the generator's, and a test holds that it is up to date.
 */
import { globSync, readFileSync } from 'node:fs'
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
