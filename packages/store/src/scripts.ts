/**
 * Lua scripts: read from `lua/`, includes resolved, run by EVALSHA with a fallback to EVAL (so an emptied script cache
 * costs one more trip). A file `take-deliveries-1.lua` takes 1 key; `-- @include now` inserts `include/now.lua`.
 */
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'

const LUA = new URL('../src/lua/', import.meta.url)

export interface Script {
  name: string
  keys: number
  lua: string
}

export type ScriptValue = string | Buffer | number

/** Reads one script; throws where the file's name carries no key count. */
export function readScript(file: string): Script {
  const match = /^([a-z-]+)-(\d+)$/.exec(file)
  if (!match?.[1] || !match[2]) throw new Error(`${file}: a script's name ends in the number of its keys`)
  const lua = readFileSync(new URL(`${file}.lua`, LUA), 'utf8').replace(
    /^-- @include ([a-z-]+)$/gm,
    (_, name: string) => readFileSync(new URL(`include/${name}.lua`, LUA), 'utf8'),
  )
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
  if (commands[script.name] === undefined) {
    redis.defineCommand(script.name, { numberOfKeys: script.keys, lua: script.lua })
  }
  const run = commands[`${script.name}Buffer`]
  if (run === undefined) throw new Error(`${script.name} is not defined on this connection`)
  return run.call(redis, ...keys, ...args)
}
