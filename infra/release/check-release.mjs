// @ts-check
/** Two builds of one commit have the same bytes, and each artifact works where nothing else is. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bootstrap/paths.mjs'
import { StepError, say, show } from '../bootstrap/steps.mjs'
import { provideRedisServer } from '../bootstrap/tools/redis-binary.mjs'

/**
 * Tests that install artifacts, on an empty Debian, and npm packages in an empty project. Others skip the test of the
 * proxies if a proxy is missing.
 */
const TESTS = ['tests/release', 'package.test.ts', 'tests/guides/reverse-proxy.test.ts']

/** @param {string} output the artifacts @param {string} again those of a second build */
export async function checkRelease(output, again) {
  const different = differences(output, again)
  if (different.length > 0)
    throw new StepError(
      `two builds of one commit differ, in ${output} and ${again}:\n${different.join('\n')}`,
    )
  rmSync(again, { recursive: true })
  say('two builds are the same bytes; trying the artifacts')
  if ((await show('node', ['infra/release/check-artifacts.mjs', output], { cwd: root })) !== 0)
    throw new StepError('an artifact failed its check, as the lines above say')
  if ((await show('node', ['infra/helm/check.mjs'], { cwd: root })) !== 0)
    throw new StepError('the chart failed its check, as the lines above say')
  if ((await show('npm', ['run', 'test:upgrades'], { cwd: root })) !== 0)
    throw new StepError('two releases failed beside each other, as the lines above say')
  const server = await provideRedisServer(process.env)
  if (server.kind !== 'binary') throw new StepError('the check needs a Redis that runs without a container')
  const env = {
    ...process.env,
    FANTAIL_RELEASE: output,
    FANTAIL_PACKAGES_LONG: '1',
    FANTAIL_REDIS_SERVER: server.path,
  }
  const code = await show('vitest', ['run', ...TESTS], { cwd: root, env })
  if (code !== 0) throw new StepError('an artifact does not work, as the lines above say')
}

/** Lines of the checksums that only one of the folders has. @param {string} output @param {string} again */
function differences(output, again) {
  const lines = [output, again].flatMap((folder) =>
    readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n'),
  )
  return lines.filter((line) => lines.indexOf(line) === lines.lastIndexOf(line))
}
