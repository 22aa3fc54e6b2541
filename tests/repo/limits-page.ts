/**
 * The limits that docs/limits.md lists: constants whose comment has a `@limit`, with the text behind it, and settings
 * that have a unit. The text names what is bounded. From `Past it:` or the like on, it says what happens beyond the
 * bound. `@limit memory (…)` lists the constant among the bounds of memory instead, and names what holds the memory.
 * A bound that neither callers nor operators meet has a comment without the tag, and stays out of the page.
 */
import { type Bound, renderSums } from './memory-sums.ts'
import { filesMatching, textOf } from './repository.ts'

const COMMENTED =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^(?:(?:export )?const ([A-Z][A-Z0-9_]*)(?:: number)? = (.+)| {2}([a-z]\w*): ([\d_]+),)$/gm
const LUA_COMMENTED = /((?:^--.*\n)*)^local ([A-Z][A-Z0-9_]*) = ([\d.]+)$/gm
const NUMBER = /^(?:[\d_.]+|0x[\da-f]+)(?: [*/] [\d_.]+)*$/i

const sources = filesMatching('{packages,services}/*/src/**/*.{ts,tsx,lua}').filter(
  (path) => !/\.(test|fixture)\.ts$|^packages\/test-kit\//.test(path),
)

/** Every constant of the production code that is a number, and every member of an object with limits. */
export function bounds(): Bound[] {
  return sources.flatMap((path) => (path.endsWith('.lua') ? boundsOfLua(path) : boundsOfSource(path)))
}

function boundsOfSource(path: string): Bound[] {
  return [...textOf(path).matchAll(COMMENTED)].flatMap(([, comment, name, value, member, memberValue]) => {
    const found = limitIn(comment?.replaceAll(/\n\s*\*/g, ' ').replace(/^\*/, ''))
    const text = value ?? memberValue ?? ''
    if (!NUMBER.test(text) || (member !== undefined && found.limit === undefined)) return []
    return [{ name: name ?? member ?? '', value: numberOf(text), path, ...found }]
  })
}

function boundsOfLua(path: string): Bound[] {
  return [...textOf(path).matchAll(LUA_COMMENTED)].map(([, comment, name = '', value = '']) => ({
    name,
    value: Number(value),
    path,
    ...limitIn(comment?.replaceAll(/^-- @(?!limit).*\n/gm, '').replaceAll(/^-- |\n/gm, ' ')),
  }))
}

/** The comment, and its text from `@limit` to the end. */
function limitIn(comment: string | undefined): Pick<Bound, 'comment' | 'limit' | 'memoryOf'> {
  const [, memory, memoryOf = '', text] =
    /@limit( memory\b)?(?: \(([^)]*)\))?([\s\S]*)/.exec(comment ?? '') ?? []
  return { comment: oneLine(comment), limit: oneLine(text), memoryOf: memory && memoryOf }
}

const oneLine = (text: string | undefined) => text?.replaceAll(/\s+/g, ' ').trim()

function numberOf(text: string): number {
  const [first = '', ...rest] = text.replaceAll('_', '').split(/ (?=[*/])/)
  return rest.reduce((value, part) => {
    const by = Number(part.slice(2))
    return part.startsWith('*') ? value * by : value / by
  }, Number(first))
}

const PARTS: [string, string][] = [
  ['packages/contracts/', 'Requests and records'],
  ['services/publish-api/', 'API'],
  ['packages/aws-wire/', 'AWS protocols'],
  ['services/delivery-worker/', 'Delivery worker'],
  ['packages/delivery/', 'Outbound requests'],
  ['packages/policy/', 'Policies and filters'],
  ['packages/jobs/', 'Dispatch jobs'],
  ['packages/store/', 'Redis'],
  ['services/redrive/', 'Redrives'],
  ['', 'Processes and commands'],
]

const HEAD = `# Limits

The limits that callers and operators can meet: every bound of memory, and every bound past which a request is refused,
a delivery fails or something is left out. Further bounds keep single steps small and are written in the code that they
bound. Names of limits are unique, so a search for a name finds its file. \`npm run generate\` writes this page from the
definitions of settings (\`packages/config/src/tables.ts\`) and the comments of constants (\`@limit\`).
`

/** The text of docs/limits.md. */
export function renderLimits(): string {
  const limits = bounds().filter(({ limit }) => limit !== undefined)
  const partOf = ({ path }: Bound) => PARTS.find(([prefix]) => path.startsWith(prefix))?.[1]
  const parts = PARTS.map(([, title]) =>
    section(
      title,
      limits.filter((bound) => bound.memoryOf === undefined && partOf(bound) === title),
    ),
  )
  const ofMemory = limits.filter(({ memoryOf }) => memoryOf !== undefined)
  const memory = section('Memory', ofMemory, `${MEMORY}\n${renderSums(ofMemory, shown)}\n### Each bound\n`)
  return `${HEAD}\n## Settings\n\n${settingsTable()}${memory}${parts.join('')}`
}

const MEMORY = `
The first table adds up, by process, the memory that Redis and each process may use. The second one has each bound.

No limit holds for the bytes of all requests that an API process is reading. With a common limit, a few slow callers
could make the API refuse all others. Instead, each single request is limited: in bytes (\`REQUEST_BYTES_MAX\` or
\`AWS_REQUEST_BYTES_MAX\`), and in the time until it has arrived (\`REQUEST_TIMEOUT_MS\`). If the API needs keys, it does
not read the body of a request without a key. Over the AWS protocols it reads at most \`STRANGERS_BYTES_MAX\` of it. A
proxy in front of the API can limit the number of connections.
`

function section(title: string, limits: Bound[], text = ''): string {
  const head = '| limit | value | bounds | past it |\n|---|---|---|---|'
  return `\n## ${title}\n${text}\n${head}\n${limits.map(rowOf).join('\n')}\n`
}

const OUTCOME = /^(.*?)(?: (?:Past it|After it|Below it|With less left): (.*))?$/

function rowOf(bound: Bound): string {
  const [, what = '', then = ''] = OUTCOME.exec(bound.limit ?? '') ?? []
  return `| \`${bound.name}\` | ${shown(bound)} | ${what} | ${capitalised(then)} |`
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const UNITS: [RegExp, (value: number) => string][] = [
  [/_SHARE$/, (value) => `${Number((value * 100).toFixed(1))} %`],
  [
    /(^|_)BYTES(_|$)|[Bb]ytes/,
    (value) =>
      scaled(value, [
        [1_048_576, 'MiB'],
        [1_024, 'KiB'],
        [1, 'bytes'],
      ]),
  ],
  [/(^|_)MS(_|$)|Ms$/, shownMs],
  [/PER_SECOND/, (value) => `${value.toLocaleString('en')} /s`],
  [/(^|_)SECONDS(_|$)/, (value) => shownMs(value * 1_000)],
  [/(^|_)CHARS(_|$)/, (value) => `${value.toLocaleString('en')} characters`],
  [/(^|_)DAYS(_|$)/, (value) => `${value} days`],
]

/** The value with the unit that its name has. */
function shown({ name, value }: Pick<Bound, 'name' | 'value'>): string {
  const unit = UNITS.find(([pattern]) => pattern.test(name))
  return unit ? unit[1](value) : value.toLocaleString('en')
}

function shownMs(value: number): string {
  return scaled(value, [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
    [1, 'ms'],
  ])
}

/** The value in the largest unit in which it is a whole number. */
function scaled(value: number, units: [number, string][]): string {
  const [size, unit] = units.find(([size]) => value >= size && value % size === 0) ?? units.at(-1) ?? [1, '']
  return `${(value / size).toLocaleString('en')} ${unit}`
}

const SETTING = /^# (.+)\n# \(unit: (.+?); (?:unset: (.+?); )?read by .+\)\n(?:# )?(\w+)=(.*)$/gm

/** From `.env.example`, which `npm run generate` writes first. */
function settingsTable(): string {
  const rows = [...textOf('.env.example').matchAll(SETTING)].map(
    ([, description, unit, unset, name, preset]) =>
      `| \`${name}\` | ${preset || unset} | ${unit} | ${description} |`,
  )
  return `| setting | default | unit | bounds |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
