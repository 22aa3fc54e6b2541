/** Runs the examples of the README of `@fantail/testing` as they are written, by a vitest of its own. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT, textOf } from '../repo/repository.ts'
import { readmeExamples } from './readme-example.ts'
import { HAS_REDIS, stackOptions } from './stack-options.ts'

test.runIf(HAS_REDIS)('the examples of the README run as written', async () => {
  const examples = readmeExamples(textOf('packages/testing/README.md'), stackOptions())
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
    const config = { root: folder, resolve: { alias }, test: { ...times, include: ['*.test.ts'] } }
    await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}\n`)
    for (const [at, example] of examples.entries()) {
      await writeFile(join(folder, `example-${at}.test.ts`), example)
    }
    const words = ['vitest/vitest.mjs', 'run', '--config', join(folder, 'vitest.config.mjs')]
    const vitest = join(ROOT, 'node_modules', words[0] ?? '')
    const env = { ...process.env, NO_COLOR: '1' }
    const { stdout } = await promisify(execFile)(process.execPath, [vitest, ...words.slice(1)], {
      cwd: folder,
      env,
    })
    expect(stdout).toMatch(/Tests\s+4 passed/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
