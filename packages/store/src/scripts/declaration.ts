/**
 * Reads which keys and arguments a script takes. The head of the script declares them, one name per line:
 *
 *     -- @key base: of the queue's shard
 *     -- @arg arn: text
 *     -- @arg removed_max: number, messages that one call removes
 *     -- @list handles
 *     -- @item id: text
 *     -- @item digest: text
 *
 * The loader makes local variables with these names from the keys and arguments. The items of a list follow after all
 * arguments. The script reads them with `for id, digest in handles() do`. With `-- @rest values` the script itself
 * reads all remaining values, and `values_at` is the position of the first one.
 */

/**
 * The kinds of values. Each line has the type in the script, then the type in TypeScript.
 * - `text`: a text; string or Buffer.
 * - `digits`: a number that stays a text, to pass on or to compare; number.
 * - `number`: a number; number.
 * - `number?`: a number or nil; number or null.
 * - `flag`: true or false; boolean.
 */
const KINDS = ['text', 'digits', 'number', 'number?', 'flag'] as const
export type Kind = (typeof KINDS)[number]

interface Parameter {
  /** In Lua. */
  name: string
  /** In TypeScript. */
  member: string
  kind: Kind
}

export interface Declaration {
  keys: Parameter[]
  args: Parameter[]
  /** Behind the arguments. */
  list?: { name: string; member: string; items: Parameter[] }
  rest?: { name: string; member: string }
}

const LINE = /^-- @(key|arg|list|item|rest) ([a-z_0-9]+)(?:: (.*))?$/gm

export function declarationOf(script: string, lua: string): Declaration {
  const declared: Declaration = { keys: [], args: [] }
  for (const [line, what, name = '', about = ''] of lua.matchAll(LINE)) {
    if (declared.list && what !== 'item') throw new Error(`${script}: ${line} stands behind a list`)
    switch (what) {
      case 'key':
        declared.keys.push({ ...named(name), kind: 'text' })
        break
      case 'list':
        declared.list = { ...named(name), items: [] }
        break
      case 'rest':
        declared.rest = named(name)
        break
      case 'item':
        if (!declared.list) throw new Error(`${script}: ${line} has no list before it`)
        declared.list.items.push({ ...named(name), kind: kindOf(script, about) })
        break
      default:
        declared.args.push({ ...named(name), kind: kindOf(script, about) })
    }
  }
  return declared
}

function named(name: string): { name: string; member: string } {
  return { name, member: name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) }
}

function kindOf(script: string, about: string): Kind {
  const word = about.split(',')[0]
  const kind = KINDS.find((name) => name === word)
  if (kind === undefined) throw new Error(`${script}: "${about}" begins with none of ${KINDS.join(', ')}`)
  return kind
}

/** The Lua statement that defines a script's locals. */
export function localsOf({ keys, args, rest }: Declaration): string {
  const names = [...keys, ...args].map(({ name }) => name)
  const values = [
    ...keys.map((_, i) => `KEYS[${i + 1}]`),
    ...args.map(({ kind }, i) => argumentOf(`ARGV[${i + 1}]`, kind)),
  ]
  if (rest) {
    names.push(`${rest.name}_at`)
    values.push(String(args.length + 1))
  }
  return `local ${names.join(', ')} = ${values.join(', ')}\n`
}

function argumentOf(text: string, kind: Kind): string {
  switch (kind) {
    case 'number':
    case 'number?':
      return `tonumber(${text})`
    case 'flag':
      return `${text} == '1'`
    default:
      return text
  }
}

const LOOP = /\bfor ([a-z_0-9, ]+) in ([a-z_0-9]+)\(\) do\b/g

/** Replaces the script's loops over its list by loops over positions. */
export function withLoops(script: string, lua: string, { list, args }: Declaration): string {
  if (!list) return lua
  return lua.replaceAll(LOOP, (loop, names: string, name: string) => {
    if (name !== list.name) return loop
    const wanted = names.split(', ')
    const values = wanted.map((wantedName) => {
      const at = list.items.findIndex((item) => item.name === wantedName)
      const item = list.items[at]
      if (!item) throw new Error(`${script}: ${name} has no ${wantedName}`)
      return argumentOf(at === 0 ? 'ARGV[at__]' : `ARGV[at__ + ${at}]`, item.kind)
    })
    const first = args.length + 1
    return `for at__ = ${first}, #ARGV, ${list.items.length} do local ${names} = ${values.join(', ')}`
  })
}
