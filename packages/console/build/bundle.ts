/**
 * Builds the console into `dist/` and the portal into `dist/portal/`: a page, and files with a hash of their content in
 * the name. `--out FOLDER` builds into another folder. `--watch` builds again after each change. The folder `.vite` of
 * each has the licences of the packages in it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build, type HtmlTagDescriptor, type Plugin } from 'vite'

const brotliOf = promisify(brotliCompress)
const gzipOf = promisify(gzip)
const { out, watch: isWatching } = parseArgs({
  options: { out: { type: 'string', default: 'dist' }, watch: { type: 'boolean', default: false } },
}).values

// A test runner sets another value. React's development code and paths of this machine would then get into the files.
process.env.NODE_ENV = 'production'

const PAGES = [
  { input: 'index.html', base: '/console/', outDir: out },
  { input: 'portal.html', base: '/portal/', outDir: join(out, 'portal') },
]

/** Sources that the start of the console runs before the libraries have arrived. */
const EARLY = /\/client\/src\/|\/console\/src\/api\/(?!use-|pause)|preload-helper/
/**
 * Sources that almost every page needs. Tables and dialogs come with the pages that have them, and languages of the
 * portal with their readers.
 */
const SHARED = new RegExp(
  [
    '/console/src/(i18n(?!/portal)|api)/',
    '/console/src/shell/theme',
    '/console/src/parts/(?!dialogs|data-table|named-list|tabs)',
    '/node_modules/(react|react-dom|scheduler|use-sync-external-store)/',
    '/node_modules/@tanstack/(?!react-virtual|virtual-core)',
  ].join('|'),
)
const GROUPS = [
  { name: 'early', test: EARLY, priority: 2 },
  { name: 'shared', test: SHARED, priority: 1 },
]

// The first one empties `dist`.
for (const { input, base, outDir } of PAGES) {
  await build({
    configFile: false,
    root: fileURLToPath(new URL('..', import.meta.url)),
    base,
    logLevel: 'warn',
    publicDir: false,
    plugins: [preloaded(), compressed()],
    // Uses the sources of our packages, so nothing has to be compiled first.
    resolve: { conditions: ['@fantail/source', 'module', 'browser', 'import', 'default'] },
    build: {
      target: 'es2023',
      outDir,
      modulePreload: { polyfill: false },
      // A file that is written into the page would break the page's content security policy.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      license: { fileName: '.vite/licences.json' },
      watch: isWatching ? {} : null,
      // Libraries mark files for servers that render React. The console has no such server, so the warning is off.
      rolldownOptions: {
        input,
        checks: { moduleLevelDirective: false, pluginTimings: false },
        // Few files instead of many small ones, because a request costs more than its bytes.
        output: { codeSplitting: { groups: GROUPS } },
      },
    },
  })
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path)
  await writeFile(`${path}.br`, await brotliOf(content))
  await writeFile(`${path}.gz`, await gzipOf(content, { level: 9 }))
}

/** Links the code that the start of the console loads, so that the browser requests it together with the start. */
function preloaded(): Plugin {
  return {
    name: 'preloaded',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
        const main = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/src/main.tsx'))
        if (!main) return []
        const scripts = [main.fileName, ...main.imports].filter((name) => !html.includes(name))
        const styles = chunks.filter(({ fileName }) => scripts.includes(fileName)).flatMap(stylesOf)
        return [
          ...scripts.map((name) => linkTo(name, 'modulepreload')),
          ...styles.map((name) => linkTo(name, 'stylesheet')),
        ]
      },
    },
  }
}

function stylesOf({ viteMetadata }: { viteMetadata?: { importedCss: Set<string> } | undefined }): string[] {
  return [...(viteMetadata?.importedCss ?? [])]
}

function linkTo(name: string, rel: string): HtmlTagDescriptor {
  return { tag: 'link', attrs: { rel, crossorigin: true, href: `/console/${name}` }, injectTo: 'head' }
}

/** Adds each file in the forms that the API sends (`services/publish-api/src/console/console-files.ts`). */
function compressed(): Plugin {
  return {
    name: 'compressed',
    // Files are compressed after they are written, because other plugins change them until then.
    async writeBundle({ dir = '' }, bundle) {
      const files = Object.keys(bundle).filter((name) => name.startsWith('assets/'))
      await Promise.all(files.map((name) => compress(join(dir, name))))
    },
  }
}
