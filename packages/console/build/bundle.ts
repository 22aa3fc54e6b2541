/**
 * Builds the console into `dist/` and the portal into `dist/portal/`: a page, and files with a hash of their content in
 * the name. `--watch` builds again after each change.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build, type Plugin } from 'vite'

const brotliOf = promisify(brotliCompress)
const gzipOf = promisify(gzip)
const isWatching = process.argv.includes('--watch')

// A test runner sets another value. React's development code and paths of this machine would then get into the files.
process.env.NODE_ENV = 'production'

const PAGES = [
  { input: 'index.html', base: '/console/', outDir: 'dist' },
  { input: 'portal.html', base: '/portal/', outDir: 'dist/portal' },
]

// The first one empties `dist`.
for (const { input, base, outDir } of PAGES) {
  await build({
    configFile: false,
    root: fileURLToPath(new URL('..', import.meta.url)),
    base,
    logLevel: 'warn',
    publicDir: false,
    plugins: [compressed()],
    // Uses the sources of our packages, so nothing has to be compiled first.
    resolve: { conditions: ['@fantail/source', 'module', 'browser', 'import', 'default'] },
    build: {
      target: 'es2023',
      outDir,
      modulePreload: { polyfill: false },
      // A file that is written into the page would break the page's content security policy.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      watch: isWatching ? {} : null,
      // Libraries mark files for servers that render React. The console has no such server, so the warning is off.
      rolldownOptions: { input, checks: { moduleLevelDirective: false, pluginTimings: false } },
    },
  })
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path)
  await writeFile(`${path}.br`, await brotliOf(content))
  await writeFile(`${path}.gz`, await gzipOf(content, { level: 9 }))
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
