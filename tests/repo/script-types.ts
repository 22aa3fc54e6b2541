/** Writes the types of script arguments, from the declarations in the heads of scripts. */
import { readScript, SCRIPT_CLASSES, type ScriptName } from '@fantail/store'

const TYPES = {
  text: 'ScriptText',
  digits: 'number',
  number: 'number',
  'number?': 'number | null',
  flag: 'boolean',
} as const

/** The width of a formatted line. */
const LINE_CHARS_MAX = 110

type Declared = ReturnType<typeof readScript>['declared']
type Parameter = Declared['args'][number]

const HEAD = `/** Arguments of scripts, declared in their heads. Written by \`vitest run tests/repo/script-arguments.test.ts -u\`. */

type ScriptText = string | Buffer
export type ScriptValue = string | Buffer | number

export interface ScriptArguments {
`

export function renderScriptTypes(): string {
  const names = Object.keys(SCRIPT_CLASSES).toSorted() as ScriptName[]
  const types = names.map((name) => typeOf(`  '${name}': `, membersOf(readScript(name).declared)))
  return `${HEAD}${types.join('\n')}\n}\n`
}

function membersOf({ keys, args, list, rest }: Declared): string[] {
  const own = [...keys, ...args].map(memberOf)
  if (list) own.push(typeOf(`    ${list.member}: `, list.items.map(memberOf), '[]').trimStart())
  if (rest) own.push(`${rest.member}: ScriptValue[]`)
  return own
}

/** An object's type in one line, or in a line a member if it is longer. */
function typeOf(head: string, members: string[], tail = ''): string {
  const line = `${head}{ ${members.join('; ')} }${tail}`
  if (line.length <= LINE_CHARS_MAX && !line.includes('\n')) return line
  const indent = ' '.repeat(head.search(/\S/))
  return `${head}{\n${members.map((member) => `${indent}  ${member}\n`).join('')}${indent}}${tail}`
}

function memberOf({ member, kind }: Parameter): string {
  return `${member}: ${TYPES[kind]}`
}
