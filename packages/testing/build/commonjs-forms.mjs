// @ts-check
/**
 * Adds the CommonJS form to `dist`, after `tsc -b` has written the ES modules: one file for each entry, and the types
 * once more, because TypeScript reads them by the nearest package.json. vitest has no CommonJS form.
 */
import { globSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const commonjs = join(dist, 'commonjs')

await build({
  entryPoints: [join(dist, 'index.js'), join(dist, 'jest.js')],
  outdir: commonjs,
  ...{
    bundle: true,
    splitting: false,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    logLevel: 'warning',
  },
  external: ['@fantail/client'],
  define: { 'import.meta.url': 'ownUrl' },
  banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href" },
})
await writeFile(join(commonjs, 'package.json'), '{"type":"commonjs"}\n')
for (const types of globSync('**/*.d.ts', { cwd: dist, exclude: ['commonjs', 'server', 'vitest.d.ts'] })) {
  await mkdir(dirname(join(commonjs, types)), { recursive: true })
  await copyFile(join(dist, types), join(commonjs, types))
}
