/**
 * Lua scripts, read from the folder `lua/` beside their caller, with includes. They run by EVALSHA with a fallback to
 * EVAL, so an emptied script cache costs one more round trip. A file `take-deliveries-1.lua` takes 1 key. `-- @include
 * now` inserts `now.lua` from any folder's `lua/include/`: no two Lua files share a name.
 *
 * On a cluster each script names one more key, in the same slot, that never exists. While a slot moves from one master
 * to another its keys are on both, and a script must run on neither. Redis refuses a command of several keys of which
 * one is missing (ASK at the one, TRYAGAIN at the other). With one key it would run on the master that has half of the
 * shard.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'
import type { ScriptName } from '../capacity/script-classes.ts'
import { isCluster } from './cluster.ts'

/** Sources hold the Lua, also where this runs from `dist/`. */
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))

/** Name → path. */
const LUA_FILES = new Map(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => [basename(path, '.lua'), join(SOURCES, path)]),
)

function luaOf(name: string): string {
  const path = LUA_FILES.get(name)
  if (path === undefined) throw new Error(`there is no ${name}.lua`)
  return readFileSync(path, 'utf8')
}

export interface Script {
  name: string
  keys: number
  lua: string
}

const NEVER_THERE = '~'

export type ScriptValue = string | Buffer | number

/** Reads one script, which has a class; throws where the file's name carries no key count. */
export function readScript(file: ScriptName): Script {
  const match = /^([a-z-]+)-(\d+)$/.exec(file)
  if (!match?.[1] || !match[2]) throw new Error(`${file}: a script's name ends in the number of its keys`)
  const lua = luaOf(file).replace(/^-- @include ([a-z-]+)$/gm, (_, name: string) => luaOf(name))
  return { name: file, keys: Number(match[2]), lua }
}

type Run = (...args: ScriptValue[]) => Promise<unknown>

/** Runs a script; every bulk reply comes back as a Buffer, integers as numbers. */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: ScriptValue[],
  args: ScriptValue[],
): Promise<unknown> {
  if (keys.length !== script.keys) throw new Error(`${script.name} takes ${script.keys} keys`)
  const commands = redis as unknown as Record<string, Run | undefined>
  const guarded = isCluster(redis)
  if (commands[script.name] === undefined) {
    redis.defineCommand(script.name, { numberOfKeys: script.keys + (guarded ? 1 : 0), lua: script.lua })
  }
  const run = commands[`${script.name}Buffer`]
  if (run === undefined) throw new Error(`${script.name} is not defined on this connection`)
  if (guarded) return run.call(redis, ...keys, `${keys[0]}${NEVER_THERE}`, ...args)
  return run.call(redis, ...keys, ...args)
}
