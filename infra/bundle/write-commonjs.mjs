// @ts-check
/**
 * Adds the CommonJS form to the `dist` of a package, after `tsc -b` has written the ES modules: one file for each
 * entry, and the types once more, because TypeScript reads them by the nearest package.json.
 */
import { globSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/**
 * @param {string} dist
 * @param {{
 *   entries: string[], external?: string[], leftOut?: string[], platform?: 'node' | 'neutral', usesOwnUrl?: boolean
 * }} options `leftOut`: types that only the ES modules have. `usesOwnUrl`: modules find files by `import.meta.url`
 */
export async function writeCommonjs(
  dist,
  { entries, external = [], leftOut = [], platform = 'node', usesOwnUrl = false },
) {
  const commonjs = join(dist, 'commonjs')
  await build({
    entryPoints: entries.map((entry) => join(dist, entry)),
    outdir: commonjs,
    bundle: true,
    format: 'cjs',
    platform,
    target: platform === 'node' ? 'node22' : 'es2022',
    logLevel: 'warning',
    external,
    ...(usesOwnUrl && {
      define: { 'import.meta.url': 'ownUrl' },
      banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href" },
    }),
  })
  await writeFile(join(commonjs, 'package.json'), '{"type":"commonjs"}\n')
  for (const types of globSync('**/*.d.ts', { cwd: dist, exclude: ['commonjs', ...leftOut] })) {
    await mkdir(dirname(join(commonjs, types)), { recursive: true })
    await copyFile(join(dist, types), join(commonjs, types))
  }
}
