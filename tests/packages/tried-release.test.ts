/** Makes a release of the committed state, without commit and tag. `npm run test:packages` runs this test. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { PUBLISHED } from '../../infra/release/tarball-checks.mjs'
import { ROOT, textOf } from '../repo/repository.ts'

const run = promisify(execFile)

describe.runIf(process.env.FANTAIL_PACKAGES_LONG)('a release', () => {
  test('is tried without changing anything', async () => {
    const state = async () => (await run('git', ['status', '--porcelain', '--branch'], { cwd: ROOT })).stdout
    const before = await state()
    const version = '77.0.0'
    const words = ['infra/release/make-release.mjs', version, '--dry-run']
    const { stdout } = await run(process.execPath, words, { cwd: ROOT })
    expect(stdout).toContain(`would release v${version}`)
    const folder = join(ROOT, '.fantail/release', version)
    const names = PUBLISHED.map((name) => `fantail-${name}-${version}.tgz`)
    const servers = ['amd64', 'arm64'].map((arch) => `fantail-server_${version}_linux-${arch}.tar.gz`)
    const debs = ['amd64', 'arm64'].map((arch) => `fantail_${version}_${arch}.deb`)
    const files = [
      'SHA256SUMS',
      'notes.md',
      `fantail_${version}.cdx.json`,
      `fantail-image_${version}_oci.tar`,
      ...names,
      ...servers,
      ...debs,
    ]
    expect(readdirSync(folder).sort()).toEqual(files.sort())
    expect(textOf('CHANGELOG.md')).toContain(readFileSync(join(folder, 'notes.md'), 'utf8').trim())
    expect(await state()).toBe(before)
    await rm(folder, { recursive: true })
  }, 300_000)
})
