// @ts-check
/**
 * Writes the services into `dist/server`, so that the package runs without a checkout: the bundle, the Lua files, and
 * the licences of the packages that are in the bundle.
 */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleForElsewhere } from '../../../infra/bundle/bundle-services.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const server = fileURLToPath(new URL('../dist/server', import.meta.url))

const { files, modules } = await bundleForElsewhere()
await rm(server, { recursive: true, force: true })
await mkdir(server, { recursive: true })
for (const { fileName, text } of files) await writeFile(join(server, fileName), text)
for (const lua of globSync('packages/store/src/**/*.lua', { cwd: root })) {
  await mkdir(dirname(join(server, lua)), { recursive: true })
  await copyFile(join(root, lua), join(server, lua))
}
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
await writeFile(
  join(server, 'package.json'),
  `${JSON.stringify({ name, version, private: true, type: 'module' })}\n`,
)
await writeFile(join(server, 'THIRD-PARTY-LICENSES.txt'), licences())

/** One section for each package. A package without a licence in words or by name must not be in the bundle. */
function licences() {
  const folders = new Set(
    modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  )
  return [...folders].sort().map(sectionOf).join('\n')
}

/** @param {string} folder */
function sectionOf(folder) {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) throw new Error(`${folder} has no package.json`)
  const { name, version, license } = JSON.parse(readFileSync(manifest, 'utf8'))
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copying)/i.test(entry.name))
    .map((entry) => entry.name)
  if (!license && texts.length === 0) throw new Error(`${name} has no licence`)
  const parts = texts.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return [`${'='.repeat(80)}`, `${name} ${version} (${license})`, '', ...parts, ''].join('\n')
}
