// @ts-check
/** Reports edits of sources: TypeScript and Lua without tests. Several edits in a row are one report. */
import { existsSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bootstrap/paths.mjs'

const SETTLE_MS = 200

/**
 * @param {string[]} services their folders
 * @param {(file: string, edited: string[]) => void} onEdit `edited`: the services whose sources changed. A package
 * belongs to all services
 */
export function watchSources(services, onEdit) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Set<string>} */
  const edited = new Set()
  const since = Date.now()
  const follow = (/** @type {string} */ dir, /** @type {string[]} */ owners) => {
    watch(dir, { recursive: true }, (event, file) => {
      if (!file || !/\.(ts|lua)$/.test(file) || file.endsWith('.test.ts')) return
      if (event === 'change' && isOlder(join(dir, file), since)) return
      for (const owner of owners) edited.add(owner)
      clearTimeout(timer)
      timer = setTimeout(() => {
        onEdit(file, [...edited])
        edited.clear()
      }, SETTLE_MS)
    })
  }
  for (const service of services) follow(join(service, 'src'), [service])
  if (services.length > 0) for (const dir of packageSources()) follow(dir, services)
}

/**
 * Whether the file's content is older. The event then reports a change of owner or mode.
 * @param {string} file
 * @param {number} since
 */
function isOlder(file, since) {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat !== undefined && stat.mtimeMs < since
}

function packageSources() {
  const packages = join(root, 'packages')
  return readdirSync(packages)
    .map((name) => join(packages, name, 'src'))
    .filter((dir) => existsSync(dir))
}
