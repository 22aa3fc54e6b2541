/**
 * The order in which test files run. Tests of whole stacks mostly wait, and the others mostly compute. Mixed, they keep
 * all cores busy from the first file to the last. vitest asks for the order once, before it starts processes for the
 * files, so what several files need is built here: services, server tree and console. Files that build it at the same
 * time would delete each other's output.
 */
import { execFile } from 'node:child_process'
import { sep } from 'node:path'
import { promisify } from 'node:util'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { provideServerTree } from '../services/server-tree.ts'
import { provideBundles } from '../services/service-bundles.ts'

const STACKS = `${sep}tests${sep}`
/**
 * Files that last for more than half a minute although the machine is quiet, and small ones that last for more than ten
 * seconds. They are the first of those that wait. Otherwise the small ones would begin last, because vitest sorts new
 * files by their size.
 */
const LONG = [
  'infra/dev/check-settings',
  'redrive/src/redrive-start',
  'tests/chaos/',
  'tests/consumer/consumer',
  'tests/failure/endpoints/fifo',
  'tests/failure/processes/frozen',
  'tests/guides/',
  'tests/scaling/shared-parts',
].map((path) => path.replaceAll('/', sep))
/** Files that use the server tree. */
const IN_TREE = ['guides/operate', 'release/server-tree'].map((path) => STACKS + path.replaceAll('/', sep))
const BROWSER = `${STACKS}browser${sep}`
/** All other folders of tests start services. */
const WITHOUT_SERVICES = ['bench', 'harness', 'repo'].map((folder) => `${STACKS}${folder}${sep}`)

export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isStack = ({ moduleId }: TestSpecification) => moduleId.includes(STACKS)
    const startsServices = ({ moduleId }: TestSpecification) =>
      !WITHOUT_SERVICES.some((folder) => moduleId.includes(folder))
    const inTree = ({ moduleId }: TestSpecification) => IN_TREE.some((path) => moduleId.includes(path))
    const needsTree = sorted.some(inTree)
    const needsConsole = needsTree || sorted.some(({ moduleId }) => moduleId.includes(BROWSER))
    await Promise.all([
      sorted.filter(isStack).some(startsServices) && provideBundles(),
      needsConsole && buildConsole().then(() => (needsTree ? provideServerTree() : undefined)),
    ])
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((path) => moduleId.includes(path))
    const waits = (file: TestSpecification) => isLong(file) || isStack(file)
    const waiting = sorted.filter(waits)
    const computing = sorted.filter((file) => !waits(file))
    return mixed([...waiting.filter(isLong), ...waiting.filter((file) => !isLong(file))], computing)
  }
}

/** turbo takes the console from its cache, unless its sources have changed. */
async function buildConsole(): Promise<void> {
  await promisify(execFile)('turbo', ['run', 'bundle'])
}

/**
 * Mixes two lists evenly and keeps the order of each. At every point of the result, the same share of both lists has
 * appeared.
 */
export function mixed<T>(some: T[], others: T[]): T[] {
  const placed = (items: T[]) => items.map((item, i) => ({ item, at: (i + 0.5) / items.length }))
  return [...placed(some), ...placed(others)].toSorted((a, b) => a.at - b.at).map(({ item }) => item)
}
