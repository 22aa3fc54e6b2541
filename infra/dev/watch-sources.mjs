// @ts-check
/** Reports edits of sources: TypeScript and Lua without tests, several edits in a row as one. */
import { existsSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bootstrap/paths.mjs'

const SETTLE_MS = 200

/**
 * @param {string} service its folder
 * @param {(file: string) => void} onEdit
 */
export function watchSources(service, onEdit) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const since = Date.now()
  for (const dir of sourceDirs(service)) {
    watch(dir, { recursive: true }, (event, file) => {
      if (!file || !/\.(ts|lua)$/.test(file) || file.endsWith('.test.ts')) return
      if (event === 'change' && isOlder(join(dir, file), since)) return
      clearTimeout(timer)
      timer = setTimeout(() => onEdit(file), SETTLE_MS)
    })
  }
}

/**
 * The file's content is older, so the event reports a change of its owner or mode.
 * @param {string} file @param {number} since
 */
function isOlder(file, since) {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat !== undefined && stat.mtimeMs < since
}

/** @param {string} service */
function sourceDirs(service) {
  const packages = join(root, 'packages')
  const dirs = readdirSync(packages).map((name) => join(packages, name, 'src'))
  return [join(service, 'src'), ...dirs].filter((dir) => existsSync(dir))
}
