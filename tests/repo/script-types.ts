/** Writes the types of script arguments, from the declarations in the heads of scripts. */
import { readScript, SCRIPT_CLASSES, type ScriptName } from '@fantail/store'

const TYPES = {
  text: 'ScriptText',
  digits: 'number',
  number: 'number',
  'number?': 'number | null',
  flag: 'boolean',
} as const

type Declared = ReturnType<typeof readScript>['declared']
type Parameter = Declared['args'][number]

const HEAD = `/** Arguments of scripts, declared in their heads. Written by \`vitest run tests/repo/script-arguments.test.ts -u\`. */

type ScriptText = string | Buffer
export type ScriptValue = string | Buffer | number

export interface ScriptArguments {
`

export function renderScriptTypes(): string {
  const names = Object.keys(SCRIPT_CLASSES).toSorted() as ScriptName[]
  const types = names.flatMap((name) => {
    const { declared } = readScript(name)
    return [`  '${name}': {\n${membersOf(declared)}  }\n`]
  })
  return `${HEAD}${types.join('')}}\n`
}

function membersOf({ keys, args, list, rest }: Declared): string {
  const own = [...keys, ...args].map((parameter) => `    ${memberOf(parameter)}`)
  const items = list?.items.map((parameter) => `      ${memberOf(parameter)}`) ?? []
  if (list) own.push(`    ${list.member}: {\n${items.join('')}    }[]\n`)
  if (rest) own.push(`    ${rest.member}: ScriptValue[]\n`)
  return own.join('')
}

function memberOf({ member, kind }: Parameter): string {
  return `${member}: ${TYPES[kind]}\n`
}
