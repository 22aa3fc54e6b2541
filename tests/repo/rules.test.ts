/** Rules of the repository that no linter checks. */
import { expect, test } from 'vitest'
import { consoleScreens, filesMatching, manifests, textOf } from './repository.ts'

const EXACT = /^\d+\.\d+\.\d+$/
const sources = filesMatching('{packages,services,infra,tests}/**/*.{ts,tsx}')

test('versions stand once, in the catalog, and are exact', () => {
  const catalog = /^catalog:\n((?: {2}.*\n)+)/m.exec(textOf('pnpm-workspace.yaml'))?.[1] ?? ''
  const pins = [...catalog.matchAll(/^ {2}"?([^":\s]+)"?: (\S+)$/gm)].map(([, name, version]) => ({
    name,
    version,
  }))
  expect(pins.length).toBeGreaterThan(10)
  expect(pins.filter(({ version }) => !EXACT.test(version ?? ''))).toEqual([])
  for (const { folder, dependencies, devDependencies } of manifests()) {
    const unpinned = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([name, version]) => version !== (name.startsWith('@fantail/') ? 'workspace:*' : 'catalog:'),
    )
    expect([folder, unpinned]).toEqual([folder, []])
  }
  const root = JSON.parse(textOf('package.json')) as { devDependencies: Record<string, string> }
  expect(Object.values(root.devDependencies).filter((version) => !EXACT.test(version))).toEqual([])
})

test('nothing is exported by default, and files are named in kebab-case', () => {
  expect(sources.filter((path) => /^export default\b/m.test(textOf(path)))).toEqual([])
  const name = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|timing\.test|fixture|d))?\.tsx?$/
  expect(sources.filter((path) => !name.test(path.slice(path.lastIndexOf('/') + 1)))).toEqual([])
})

/** The arguments of a call, from behind its opening bracket. */
function argumentsAt(text: string, start: number): string {
  let depth = 1
  let end = start
  while (depth > 0 && end < text.length) {
    if (text[end] === '(') depth++
    if (text[end] === ')') depth--
    end++
  }
  return text.slice(start, end)
}

/** Names of log lines, from the sources. */
function logNames(): string[] {
  return filesMatching('{packages,services,infra}/**/*.{ts,mjs}')
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => {
      const text = textOf(path)
      return [...text.matchAll(/\.(?:debug|info|warn|error|fatal)\(/g)].flatMap((call) =>
        [...argumentsAt(text, call.index + call[0].length).matchAll(/'([a-z]\w*\.[\w.]+)'/g)].map(
          ([, name = '']) => name,
        ),
      )
    })
}

test('names of log lines are in snake case', () => {
  const names = logNames()
  expect(names.length).toBeGreaterThan(150)
  expect(names.filter((name) => name !== name.toLowerCase())).toEqual([])
})

test('a log line of a failure is named <object>.<verb>_failed', () => {
  const others = /\.(error|threw)$|[._](not_\w+|un[a-z]+(ed|en))$|\.un(read|told|sent)$/
  // Somebody unsubscribed, and the stored signing pair is not sealed. Nothing has failed there.
  const events = ['subscription.unsubscribed', 'signing.unsealed']
  expect(logNames().filter((name) => others.test(name) && !events.includes(name))).toEqual([])
})

test('no test mocks modules, is left out or runs alone', () => {
  const tests = sources.filter((path) => path.endsWith('.test.ts') && !path.startsWith('tests/repo/'))
  const forbidden = /\bvi\.(mock|doMock)\(|\b(test|it|describe)\.(only|skip|todo)\(/
  expect(tests.filter((path) => forbidden.test(textOf(path)))).toEqual([])
})

test('no test watches Redis by the monitor of ioredis, which fails if commands follow at once', () => {
  expect(sources.filter((path) => /\.monitor\(/.test(textOf(path)))).toEqual([])
})

test('no service assigns a function to a property where it is written, which keeps more than it refers to', () => {
  // V8 puts such a function into the old generation. What it refers to then stays until the whole heap is collected.
  const assigned =
    /^\s*[\w.#?[\]'"]*(?:\.#?\w+|\]) = (?:async )?(?:function\b|\([^()]*\)(?:: [^=]+)? =>|\w+ =>).*/gm
  const folders = '{access,consumer,delivery,jobs,policy,runtime,store,telemetry,vault}'
  const found = filesMatching(`{packages/${folders},services/*}/src/**/*.ts`)
    .filter((path) => !/\.(test|fixture)\.ts$/.test(path))
    .flatMap((path) => [...textOf(path).matchAll(assigned)].map(([line]) => `${path}: ${line.trim()}`))
  expect(found).toEqual([])
})

/** The words in Lua scripts are the project's own. */
const LUA_NAMES = 'packages/store/src/scripts/lua-names.ts'

test('a table is a Map if any text may look it up, because an object also has members that it inherits', () => {
  const table =
    /^(?:export )?const (\w+)(?:: (?:Readonly<)?Record<string, | = Object\.fromEntries\()|@type \{Record<string, .*\nconst (\w+)/gm
  const files = filesMatching('{packages,services,infra}/**/*.{ts,tsx,mjs}')
    .filter((path) => !/\.(test|fixture|gen)\.tsx?$|^packages\/test-kit\//.test(path))
    .filter((path) => path !== LUA_NAMES)
    .map((path) => ({ path, text: textOf(path) }))
  const found = files.flatMap((file) =>
    [...file.text.matchAll(table)].flatMap(([declared, typed, named = typed]) => {
      const looksUp = new RegExp(`\\b${named}\\[(?!['"])|\\bin ${named}\\b`)
      const users = declared.startsWith('export') ? files : [file]
      const isWrong = (line: string) => looksUp.test(line) && !line.includes(`Object.hasOwn(${named},`)
      return users.filter(({ text }) => text.split('\n').some(isWrong)).map(({ path }) => `${path}: ${named}`)
    }),
  )
  expect(found).toEqual([])
})

test('every tool setting that the services read is one that the tables name', () => {
  const named = new Set(
    [...textOf('packages/config/src/tables.ts').matchAll(/'(FANTAIL_[A-Z_]+)'/g)].map(([, name]) => name),
  )
  const read = filesMatching('{packages,services}/*/src/**/*.ts')
    .filter((path) => !/\.(test|fixture)\.ts$|test-kit/.test(path))
    .flatMap((path) => [...textOf(path).matchAll(/process\.env\.(FANTAIL_[A-Z_]+)/g)].map(([, name]) => name))
  expect(read.filter((name) => !named.has(name))).toEqual([])
})

test('every setting is read by a service, a tool or a package', () => {
  const tables = textOf('packages/config/src/tables.ts').split("from './sms-forms.ts'")[1] ?? ''
  const keys = [...tables.matchAll(/^ {2}(\w+)(?:: (?:setting|optional)\(\{|: \w+,|,)$/gm)].map(
    ([, key = '']) => key,
  )
  const product = filesMatching('{packages,services,infra}/**/*.ts')
    .filter((path) => !/\.(test|fixture)\.ts$|test-kit|^packages\/config\//.test(path))
    .map(textOf)
    .join('\n')
  const reads = new Set(
    [...product.matchAll(/\.(\w+)|(?<=[{,]\s*)(\w+)(?=\s*[:,}=])/g)].map(
      ([, member, taken]) => member ?? taken,
    ),
  )
  expect(keys.length).toBeGreaterThan(60)
  expect(keys.filter((key) => !reads.has(key))).toEqual([])
  // The settings of Redis leave the package as one target.
  const [table = '', uses = ''] = textOf('packages/config/src/redis-settings.ts').split(
    'export type RedisValues',
  )
  const ofRedis = [...table.matchAll(/^ {2}(\w+): (?:setting|optional)\(/gm)].map(([, key = '']) => key)
  expect(ofRedis.length).toBeGreaterThan(10)
  expect(ofRedis.filter((key) => !new RegExp(`\\b${key}\\b`).test(uses))).toEqual([])
})

test('each screen of the console has a key, or a browser test opens it with an id', () => {
  const keys = textOf('packages/console/src/shell/shortcuts.ts')
  const visits = filesMatching('tests/browser/*.ts').map(textOf).join('\n')
  const isReached = (screen: string) =>
    screen.includes('$')
      ? new RegExp(`['\`]${screen.replaceAll(/\$\w+/g, "[^/'`]+")}['\`?]`).test(visits)
      : keys.includes(`to: '${screen}'`)
  expect(consoleScreens().length).toBeGreaterThan(10)
  expect(consoleScreens().filter((screen) => !isReached(screen))).toEqual([])
})

/**
 * `client` runs in users' programs. `client` and `command-line` call the API that the user names. `testing` calls the
 * stack of a test and its Redis.
 */
test('only delivery opens connections to where users point, store to Redis, runtime to key services, others to the API', () => {
  const opens =
    /(?<!#)\bfetch\(|from 'undici'|^import\b[^;]*?\b(?:connect|createConnection|request|get)\b[^;]*?from 'node:(?:net|tls|http|https|http2)'/m
  // The console runs in browsers, and its page may connect only to its own server.
  const openers = filesMatching('{packages,services}/*/src/**/*.ts')
    .filter((path) => !/\.(test|fixture)\.ts$|^packages\/(test-kit|console)\//.test(path))
    .filter((path) => opens.test(textOf(path)))
    .map((path) => path.split('/').slice(0, 2).join('/'))
  const known = ['client', 'command-line', 'delivery', 'runtime', 'store', 'testing'].map(
    (name) => `packages/${name}`,
  )
  expect([...new Set(openers)].sort()).toEqual(known)
})
