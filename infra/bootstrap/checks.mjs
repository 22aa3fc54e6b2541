// @ts-check
/** The commands that end by themselves: all checks, the build, the benchmark. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './paths.mjs'
import { StepError, say, show } from './steps.mjs'
import { provideChromium } from './tools/chromium.mjs'
import { provideRedisServer } from './tools/redis-binary.mjs'

/** Makes a type check read only the files that have changed since the last one, and the files that import them. */
const remembered = (/** @type {string} */ name) => [
  '--incremental',
  '--tsBuildInfoFile',
  join('node_modules', '.cache', `${name}.tsbuildinfo`),
]
/** The fastest checks come first. */
const CHECKS = [
  { what: 'format', command: 'biome', args: ['format', '.'] },
  { what: 'lint', command: 'biome', args: ['lint', '--error-on-warnings', '.'] },
  {
    what: 'types',
    command: 'tsc',
    args: ['--noEmit', '-p', 'tsconfig.json', ...remembered('types')],
  },
  // The console runs in browsers, so it has types of its own.
  {
    what: 'types of the console',
    command: 'tsc',
    args: ['-p', join('packages', 'console'), ...remembered('console-types')],
  },
]
/** Filters of vitest: units, the store, the rules of the repository, and a message's way through a whole stack. */
const QUICK = ['packages/', 'tests/repo/', 'tests/e2e/happy-path.test.ts']
const BENCH = join('tests', 'bench', 'main.ts')
const CHAOS = join('tests', 'chaos', 'main.ts')

/**
 * Fetches the programs of the tests. This waits for the network, as long as it takes to install and check packages. The
 * tests try a failed fetch again, and say why it failed.
 * @param {NodeJS.ProcessEnv} env
 */
export async function fetchAhead(env) {
  for (const provide of [provideRedisServer, provideChromium]) await Promise.allSettled([provide(env)])
}

/**
 * Checks format, lint and types, and runs all tests. With arguments it only runs vitest, with these arguments.
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} args
 */
export async function test(env, args) {
  const code = args.length > 0 ? 0 : await check(env)
  return code === 0 ? runTests(env, args) : code
}

/** @param {NodeJS.ProcessEnv} env */
async function check(env) {
  for (const { what, command, args } of CHECKS) {
    say(`${what}: ${[command, ...args].join(' ')}`)
    const code = await show(command, args, { cwd: root, env })
    if (code !== 0) return failed(what, code)
  }
  return 0
}

/** @param {NodeJS.ProcessEnv} env @param {string[]} args */
async function runTests(env, args) {
  const words = ['run', ...args]
  say(`tests: vitest ${words.join(' ')}`)
  const code = await show('vitest', words, { cwd: root, env: await withTestRedis(env) })
  return code === 0 ? 0 : failed('tests', code)
}

/**
 * Checks types, and runs the tests of packages and store and one end-to-end test. It is a quick check during work.
 * `test` decides.
 * @param {NodeJS.ProcessEnv} env
 */
export async function quick(env) {
  const code = await check(env)
  return code === 0 ? runTests(env, QUICK) : code
}

/** @param {NodeJS.ProcessEnv} env */
export async function build(env) {
  const code = await show('tsc', ['-b', 'tsconfig.build.json'], { cwd: root, env })
  return code === 0 ? show('turbo', ['run', 'bundle'], { cwd: root, env }) : code
}

/**
 * Every command of `fantail`, on the Redis of the local stack or on the one that the environment names.
 * @param {NodeJS.ProcessEnv} env @param {string[]} args
 */
export async function fantail(env, args) {
  const bin = join('infra', 'bin', 'fantail.mjs')
  return show('node', ['--conditions=@fantail/source', bin, ...args], { cwd: root, env })
}

/**
 * Makes the changelog, the tag and the tarballs of a release: `release [VERSION] [--dry-run]`.
 * @param {NodeJS.ProcessEnv} env @param {string[]} args
 */
export async function release(env, args) {
  return show('node', [join('infra', 'release', 'make-release.mjs'), ...args], { cwd: root, env })
}

const FUZZ_CASES = '100000'
/** Filters of vitest: made-up requests, random histories of the store, and random filter policies. */
const FUZZ = ['fuzz.test', 'lanes-model', 'lanes-fifo-model', 'filter/indexes/']

/**
 * Runs the long form of every test with made-up inputs: `fuzz [cases]`.
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} args
 */
export async function fuzz(env, [cases = FUZZ_CASES]) {
  const words = ['run', ...FUZZ]
  say(`fuzz: ${cases} cases: vitest ${words.join(' ')}`)
  return show('vitest', words, {
    cwd: root,
    env: { ...(await withTestRedis(env)), FANTAIL_FUZZ_CASES: cases },
  })
}

/** @param {NodeJS.ProcessEnv} env @param {string[]} args */
export async function bench(env, args) {
  return runScript(BENCH, env, args)
}

/**
 * Makes random faults, which a seed determines: `chaos --seed 1 --minutes 2`.
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} args
 */
export async function chaos(env, args) {
  return runScript(CHAOS, env, args)
}

/** @param {string} script @param {NodeJS.ProcessEnv} env @param {string[]} args */
async function runScript(script, env, args) {
  if (!existsSync(join(root, script))) throw new StepError(`no ${script} here`)
  const words = ['--conditions=@fantail/source', script, ...args]
  return show('node', words, { cwd: root, env: await withTestRedis(env) })
}

/**
 * Tests and the benchmark start their own servers and ignore REDIS_URL, because they kill and freeze them.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
async function withTestRedis(env) {
  const server = await provideRedisServer(env)
  if (server.kind === 'binary') return { ...env, FANTAIL_REDIS_SERVER: server.path }
  return { ...env, FANTAIL_TEST_REDIS: 'container', FANTAIL_REDIS_IMAGE: server.image }
}

/** @param {string} what @param {number} code */
function failed(what, code) {
  console.error(`\nfantail: ${what} failed (exit code ${code})`)
  return code
}
