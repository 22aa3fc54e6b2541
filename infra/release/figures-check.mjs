// @ts-check
/**
 * Checks that the figures of the README and docs/performance.md still describe the tree: no file on the way of a
 * delivery has changed since they were measured.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, lastWords, StepError } from '../bootstrap/steps.mjs'

/** The raw log of the figures. Its first line names the commit that was measured. */
export const FIGURES_LOG = 'docs/performance.jsonl'

/** Files that a publish or a delivery passes. Console, command line and rarely used routes are left out. */
export const HOT_PATH = [
  'services/publish-api/src/caches',
  'services/publish-api/src/http',
  'services/publish-api/src/messages',
  'services/publish-api/src/rest/messages',
  'services/publish-api/src/server',
  'services/delivery-worker/src',
  'packages/jobs/src',
  'packages/delivery/src',
  'packages/policy/src/filter',
  'packages/policy/src/retries',
  'packages/store/src/dispatch',
  'packages/store/src/lanes',
  'packages/store/src/outcomes',
  'packages/store/src/redis',
  'packages/store/src/scripts',
  'packages/store/src/stats',
  'packages/telemetry/src',
  'infra/redis/redis.conf',
  'pnpm-lock.yaml',
]
const NOT_RUN = [':(exclude,glob)**/*.test.ts', ':(exclude,glob)**/*.fixture.ts']

/**
 * The problems, in words. Empty: the figures can be published.
 * @param {string} repository
 * @returns {Promise<string[]>}
 */
export async function figureProblems(repository) {
  const log = join(repository, FIGURES_LOG)
  if (!existsSync(log)) return [`there is no ${FIGURES_LOG}; \`npm run bench -- all --write\` measures it`]
  const { commit } = JSON.parse(readFileSync(log, 'utf8').split('\n', 1)[0] ?? '')
  const changed = await hotPathSince(repository, commit)
  return changed.map((path) => `${path} has changed since commit ${commit}, whose figures are published`)
}

/**
 * Files on the way of a delivery that differ between the commit and the folder. Rejects if there is no such commit.
 * @param {string} repository @param {string} commit
 */
export async function hotPathSince(repository, commit) {
  const words = ['diff', '--name-only', commit, '--', ...HOT_PATH, ...NOT_RUN]
  const finished = await capture('git', words, { cwd: repository })
  if (finished.code !== 0)
    throw new StepError(`the files cannot be compared with commit ${commit}:\n${lastWords(finished)}`)
  return finished.stdout.split('\n').filter((path) => path !== '')
}
