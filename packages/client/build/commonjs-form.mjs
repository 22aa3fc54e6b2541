// @ts-check
/**
 * Adds the CommonJS form to `dist`, after `tsc -b` has written the ES modules: one file for each entry, and the types
 * once more, because TypeScript reads them by the nearest package.json.
 */
import { globSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const commonjs = join(dist, 'commonjs')

await build({
  entryPoints: [join(dist, 'index.js'), join(dist, 'api.js')],
  outdir: commonjs,
  ...{ bundle: true, format: 'cjs', platform: 'neutral', target: 'es2022', logLevel: 'warning' },
})
await writeFile(join(commonjs, 'package.json'), '{"type":"commonjs"}\n')
for (const types of globSync('**/*.d.ts', { cwd: dist, exclude: ['commonjs'] })) {
  await mkdir(dirname(join(commonjs, types)), { recursive: true })
  await copyFile(join(dist, types), join(commonjs, types))
}
