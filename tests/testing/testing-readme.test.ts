/** Runs the example of the README of `@fantail/testing` as it is written, by a vitest of its own. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT, textOf } from '../repo/repository.ts'
import { readmeExample } from './readme-example.ts'
import { HAS_REDIS, stackOptions } from './stack-options.ts'

test.runIf(HAS_REDIS)('the example of the README runs as written', async () => {
  const example = readmeExample(textOf('packages/testing/README.md'), stackOptions())
  // Inside the repository, so that the packages of the example are found.
  await mkdir(join(ROOT, '.fantail'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.fantail', 'readme-'))
  try {
    const sourceOf = (path: string) => join(ROOT, 'packages', path, 'src')
    const alias = {
      '@fantail/testing/vitest': join(sourceOf('testing'), 'vitest.ts'),
      '@fantail/testing': join(sourceOf('testing'), 'index.ts'),
      '@fantail/client': join(sourceOf('client'), 'index.ts'),
    }
    // A busy machine needs more time than the defaults give.
    const times = { testTimeout: 60_000, hookTimeout: 60_000 }
    const config = { root: folder, resolve: { alias }, test: { ...times, include: ['example.test.ts'] } }
    await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}\n`)
    await writeFile(join(folder, 'example.test.ts'), example)
    const words = ['vitest/vitest.mjs', 'run', '--config', join(folder, 'vitest.config.mjs')]
    const vitest = join(ROOT, 'node_modules', words[0] ?? '')
    const env = { ...process.env, NO_COLOR: '1' }
    const { stdout } = await promisify(execFile)(process.execPath, [vitest, ...words.slice(1)], {
      cwd: folder,
      env,
    })
    expect(stdout).toMatch(/Tests\s+3 passed/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
