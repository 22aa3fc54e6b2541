/**
 * Reads all Lua files when a process starts, so that a later change of a file does not reach a running process. A
 * bundle contains the texts instead of this module (infra/bundle/bundle-services.ts).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The Lua files are in `src`, also when this runs from `dist/`. */
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))

/** Name → text. */
export const LUA_TEXTS: ReadonlyMap<string, string> = new Map(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => [basename(path, '.lua'), readFileSync(join(SOURCES, path), 'utf8')]),
)
