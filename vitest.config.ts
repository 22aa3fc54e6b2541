import { configDefaults, defineConfig } from 'vitest/config'
import { MixedOrder } from './tests/harness/runs/file-order.ts'
import { COMPILED_CODE } from './tests/harness/runs/machine-env.ts'
import { ProgressReporter } from './tests/harness/runs/progress-reporter.ts'

/**
 * Each project needs these conditions: conditions of the root do not apply to the files that vitest loads for a test.
 * No `module`: the AWS SDK means bundlers by it, and Node cannot load what stands there.
 */
const conditions = ['@fantail/source', 'node', 'import', 'default']
const resolution = { resolve: { conditions }, ssr: { resolve: { conditions } } }

/** Tests that measure times run one at a time, after all other tests, so that nothing else uses the machine. */
const TIMING = '**/*.timing.test.ts'
/**
 * More than the two cores that are expected: tests of whole stacks use a third of one, and wait for the rest of their
 * time.
 */
const WORKERS = 7
/** Tests start many processes. Compiling is half of what a start costs. */
const env = { NODE_COMPILE_CACHE: COMPILED_CODE }
/**
 * The times after which a test or a wait fails. They are no promise about Fantail's speed: on a busy machine a process
 * starts ten times as slowly.
 */
const common = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 15_000 } },
  pool: 'forks' as const,
  env,
}

export default defineConfig({
  test: {
    reporters: [...configDefaults.reporters, new ProgressReporter()],
    sequence: { sequencer: MixedOrder },
    projects: [
      {
        ...resolution,
        test: {
          ...common,
          name: 'tests',
          include: [
            'packages/**/*.test.ts',
            'services/**/*.test.ts',
            'tests/**/*.test.ts',
            'infra/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', TIMING],
          setupFiles: ['./tests/harness/runs/file-setup.ts'],
          maxWorkers: WORKERS,
          // Loading modules anew for each file is half of the CPU time of small tests.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        ...resolution,
        test: {
          ...common,
          name: 'timing',
          include: [TIMING],
          exclude: ['**/node_modules/**'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
