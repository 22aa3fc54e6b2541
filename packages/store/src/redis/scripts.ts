/**
 * Lua scripts. They are read with their includes (lua-files.ts) and declarations (declaration.ts). They are run by
 * EVALSHA, and by EVAL if the server does not know them. An emptied script cache therefore costs one more round trip. A
 * file `take-deliveries-1.lua` takes 1 key.
 *
 * On a cluster each script names one more key, in the same slot, that never exists. While a slot moves from one master
 * to another, its keys are on both, and a script must run on neither. Redis refuses a command if one of its keys is
 * missing (ASK at the one master, TRYAGAIN at the other). With one key it would run on a master that has only half of
 * the shard.
 */
import type { Redis } from 'ioredis'
import { type Declaration, declarationOf, type Kind, localsOf, withLoops } from '../scripts/declaration.ts'
import { includedBy, readLua } from '../scripts/lua-files.ts'
import { withNames } from '../scripts/lua-names.ts'
import type { ScriptArguments, ScriptValue } from '../scripts/script-arguments.ts'
import { isCluster } from './connections/cluster.ts'
import type { ScriptName } from './script-classes.ts'

interface Script<Name extends ScriptName = ScriptName> {
  name: Name
  keys: number
  readonly declared: Declaration
  readonly lua: string
}

const NEVER_THERE = '~'

export type { ScriptValue }

/**
 * One script, which must have a class. Throws if there is no such file, or if its name has no key count. The text is
 * put together when the script first runs, because a process uses few of them.
 */
export function readScript<Name extends ScriptName>(file: Name): Script<Name> {
  const match = /^([a-z-]+)-(\d+)$/.exec(file)
  if (!match?.[1] || !match[2]) throw new Error(`${file}: a script's name ends in the number of its keys`)
  const own = readLua(file)
  const keys = Number(match[2])
  let declared: Declaration | undefined
  let lua: string | undefined
  const script = {
    name: file,
    keys,
    get declared() {
      declared ??= declaredBy(file, own, keys)
      return declared
    },
    get lua() {
      lua ??= textOf(file, own, script.declared)
      return lua
    },
  }
  return script
}

function declaredBy(file: string, own: string, keys: number): Declaration {
  const declared = declarationOf(file, own)
  if (declared.keys.length !== keys) throw new Error(`${file} declares ${declared.keys.length} keys`)
  return declared
}

function textOf(file: string, own: string, declared: Declaration): string {
  const body = localsOf(declared) + withLoops(file, own, declared)
  return withNames(file, [...includedBy(own), body.replaceAll(/^-- @include .*\n/gm, '')].join(''))
}

type Run = (...args: ScriptValue[]) => Promise<unknown>

/** Runs a script. Bulk replies are Buffers, integers are numbers. */
export async function runScript<Name extends ScriptName>(
  redis: Redis,
  script: Script<Name>,
  args: ScriptArguments[Name],
): Promise<unknown> {
  const { keys, values } = valuesOf(script.declared, args)
  return sendScript(redis, script, keys, values)
}

type Given = Record<string, unknown>

function valuesOf({ keys, args, list, rest }: Declaration, given: Given) {
  const values: ScriptValue[] = []
  for (const { member, kind } of args) values.push(encoded(given[member], kind))
  for (const item of list ? (given[list.member] as Given[]) : []) {
    for (const { member, kind } of list?.items ?? []) values.push(encoded(item[member], kind))
  }
  const all = rest ? values.concat(given[rest.member] as ScriptValue[]) : values
  return { keys: keys.map(({ member }) => given[member] as ScriptValue), values: all }
}

function encoded(value: unknown, kind: Kind): ScriptValue {
  if (kind === 'flag') return value ? '1' : ''
  return (value ?? '') as ScriptValue
}

/** Runs a script with arguments by position. */
export async function sendScript(
  redis: Redis,
  script: Script,
  keys: ScriptValue[],
  args: ScriptValue[],
): Promise<unknown> {
  if (keys.length !== script.keys) throw new Error(`${script.name} takes ${script.keys} keys`)
  defineScript(redis, script)
  return call(redis, script, [...keys, ...guardOf(redis, keys), ...args])
}

/** Adds a script to a transaction (one-write.ts) of the connection. Its reply comes with those of the transaction. */
export function addScript<Name extends ScriptName>(
  redis: Redis,
  transaction: object,
  script: Script<Name>,
  args: ScriptArguments[Name],
): unknown {
  const { keys, values } = valuesOf(script.declared, args)
  return call(transaction, script, [...keys, ...guardOf(redis, keys), ...values])
}

/** Makes the script known to the connection. Transactions know only scripts that were defined before they began. */
export function defineScript(redis: Redis, script: Script): void {
  if (script.name in redis) return
  redis.defineCommand(script.name, {
    numberOfKeys: script.keys + (isCluster(redis) ? 1 : 0),
    lua: script.lua,
  })
}

function guardOf(redis: Redis, [key]: ScriptValue[]): ScriptValue[] {
  return isCluster(redis) ? [`${key}${NEVER_THERE}`] : []
}

function call(on: object, { name }: Script, values: ScriptValue[]): Promise<unknown> {
  const run = (on as Record<string, Run | undefined>)[`${name}Buffer`]
  if (run === undefined) throw new Error(`${name} is not defined on this connection`)
  return run.call(on, ...values)
}
