/**
 * Bundles each service's main file with the modules that it imports. Tests of this repository run the bundles, and the
 * packages `fantail` and `@fantail/testing` contain them. A start from source loads 1,500 files, and takes twice the
 * CPU of a start from the bundle.
 */
import http from 'node:http'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { LUA_TEXTS } from '../../packages/store/src/scripts/lua-texts.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SERVICES = ['publish-api', 'delivery-worker', 'redrive']
/** A thread of the API, which looks for it at this path (schema-compiler.ts). On this machine it uses the source. */
const SCHEMA_THREAD = 'services/publish-api/src/event-types/schema-thread'
/**
 * Scrapes load these parts of OpenTelemetry alone. The bundler itself puts one of their files into the chunk of the
 * SDK, and loading that takes 55 ms of CPU more.
 */
const TELEMETRY_CHUNKS = [
  { name: 'telemetry', test: /@opentelemetry\/api\//, priority: 1 },
  { name: 'scrapes', test: /@opentelemetry\/(sdk-metrics|exporter-prometheus)\// },
]
/** nodemailer finds files next to itself. */
const UNBUNDLED = /^nodemailer(\/|$)/

interface ServiceBundle {
  /** `<service>.mjs` for each service, and the files that these import. */
  files: { fileName: string; text: string }[]
  /** Paths of all modules in the files. */
  modules: string[]
}

/**
 * These bundles work only on this machine, because they name files of this checkout. `mains`: further main files, by
 * name.
 */
export function bundleForHere(mains: Record<string, string> = {}): Promise<ServiceBundle> {
  const plugins = [UNBUNDLED_BY_PATH, ownUrls((id) => JSON.stringify(pathToFileURL(id).href))]
  return bundle({ mains, plugins, isSmall: false })
}

/**
 * These bundles work on any machine. A package.json with the version must be next to them. The services then use no
 * native code of packages, and only the thread that is among the files. `mains`: further main files, by name.
 */
export function bundleForElsewhere(mains: Record<string, string> = {}): Promise<ServiceBundle> {
  const urlOf = (id: string) => {
    const path = relative(ROOT, id).split(sep).join('/')
    return `new URL(${JSON.stringify(`./${path}`)}, import.meta.url).href`
  }
  return bundle({ mains, plugins: [ownUrls(urlOf)], isSmall: true })
}

interface BundleOptions {
  mains: Record<string, string>
  plugins: Plugin[]
  isSmall: boolean
}

async function bundle({ mains, plugins, isSmall }: BundleOptions): Promise<ServiceBundle> {
  const services = SERVICES.map((name) => [name, join('services', name, 'src/main.ts')] as const)
  const thread = isSmall ? { [SCHEMA_THREAD]: `${SCHEMA_THREAD}.ts` } : {}
  const input = Object.entries({ ...Object.fromEntries(services), ...thread, ...mains })
  const made = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(input.map(([name, path]) => [name, join(ROOT, path)])),
    platform: 'node',
    resolve: { conditionNames: ['@fantail/source', 'node', 'import', 'default'] },
    makeAbsoluteExternalsRelative: false,
    plugins: [LUA_INSIDE, WITHOUT_NATIVE_CODE, UNDICI_CLIENT, WITHOUT_FETCH, ...plugins],
    logLevel: 'silent',
  })
  const { output } = await made.generate({
    format: 'esm',
    codeSplitting: { groups: TELEMETRY_CHUNKS },
    keepNames: true,
    // Names are kept, so that the stacks in logs can be read.
    minify: isSmall && { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  await made.close()
  return {
    files: output.map((file) => ({ fileName: file.fileName, text: textOf(file) })),
    modules: output
      .flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
      .filter(isFile),
  }
}

/** The ids of modules without a file begin with a zero byte. */
const isFile = (id: string) => !id.startsWith('\0')

function textOf(file: OutputChunk | OutputAsset): string {
  return file.type === 'chunk' ? file.code : String(file.source)
}

/** Packages that stay outside are named by their files, because the bundle's folder has no packages. */
const UNBUNDLED_BY_PATH: Plugin = {
  name: 'unbundled-by-path',
  async resolveId(source, importer, { kind }) {
    if (importer === undefined || !UNBUNDLED.test(source)) return null
    const found = await this.resolve(source, importer, { skipSelf: true })
    if (!found) throw new Error(`${source} is not found from ${importer}`)
    return { id: kind === 'require-call' ? found.id : pathToFileURL(found.id).href, external: true }
  },
}

/**
 * BullMQ only encodes with msgpackr. Its native code decodes, and to look for it is a twentieth of a service's start.
 */
const WITHOUT_NATIVE_CODE: Plugin = {
  name: 'without-native-code',
  async resolveId(source, importer) {
    if (source !== 'msgpackr') return null
    const found = await this.resolve(source, importer, { skipSelf: true })
    return found && join(found.id.slice(0, found.id.lastIndexOf(MSGPACKR)), MSGPACKR, 'index.js')
  },
}
const MSGPACKR = join('node_modules', 'msgpackr')

/**
 * The services use two parts of undici. Its index also has `fetch`, WebSocket and caches, which take 13 ms of CPU at
 * every start.
 */
const UNDICI_CLIENT: Plugin = {
  name: 'undici-client',
  async resolveId(source, importer) {
    if (source !== 'undici' || importer === UNDICI_PARTS) return null
    return UNDICI_PARTS
  },
  async load(id) {
    if (id !== UNDICI_PARTS) return null
    const index = await this.resolve('undici', DELIVERY, { skipSelf: true })
    if (!index) throw new Error('packages/delivery does not find undici')
    const part = (path: string) => JSON.stringify(join(dirname(index.id), 'lib', path))
    return [
      `import Client from ${part('dispatcher/client.js')}`,
      `import errors from ${part('core/errors.js')}`,
      'export { Client, errors }',
    ].join('\n')
  },
}
const UNDICI_PARTS = '\0undici-parts'
const DELIVERY = join(ROOT, 'packages/delivery/src/index.ts')

/**
 * An import of `http` also loads `WebSocket`, and with it Node's own `fetch`, which takes 48 ms of CPU. Without the
 * import it is loaded when it is used.
 */
const WITHOUT_FETCH: Plugin = {
  name: 'without-fetch',
  // One module for each importer. A shared one could be in a chunk that only some of them need.
  resolveId: (source, importer, { kind }) =>
    kind !== 'require-call' && /^(node:)?http$/.test(source) ? `${HTTP_PARTS} ${importer}` : null,
  load(id) {
    if (!id.startsWith(HTTP_PARTS)) return null
    const names = Object.keys(http).filter((name) => !WITH_FETCH.includes(name))
    const code = `const http = process.getBuiltinModule('node:http')\nexport const { ${names.join(', ')} } = http`
    return { code: `${code}\nexport default http`, moduleSideEffects: false }
  },
}
const HTTP_PARTS = '\0http-parts'
/** The names of `http` that load `fetch`. */
const WITH_FETCH = ['WebSocket', 'CloseEvent', 'MessageEvent']

const LUA_MODULE = join(ROOT, 'packages/store/src/scripts/lua-texts.ts')

/** Puts the texts of the Lua files into the bundle. Reading 170 files takes longer than loading a bundle. */
const LUA_INSIDE: Plugin = {
  name: 'lua-inside',
  load: (id) =>
    id === LUA_MODULE ? `export const LUA_TEXTS = new Map(${JSON.stringify([...LUA_TEXTS])})` : null,
}

/**
 * Modules that find files relative to their own place also find them from the bundle. `urlOf`: code that gives the
 * module's URL.
 */
function ownUrls(urlOf: (id: string) => string): Plugin {
  return {
    name: 'own-urls',
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null
      return code.replaceAll('import.meta.url', urlOf(id))
    },
  }
}
