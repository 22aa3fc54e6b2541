/**
 * The order in which test files run. Tests of whole stacks mostly wait, and the others mostly compute. Mixed, they keep
 * all cores busy from the first file to the last.
 */
import { sep } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const STACKS = `${sep}tests${sep}`

export class MixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isStack = ({ moduleId }: TestSpecification) => moduleId.includes(STACKS)
    return mixed(
      sorted.filter(isStack),
      sorted.filter((file) => !isStack(file)),
    )
  }
}

/**
 * Mixes two lists evenly and keeps the order of each. At every point of the result, the same share of both lists has
 * appeared.
 */
export function mixed<T>(some: T[], others: T[]): T[] {
  const placed = (items: T[]) => items.map((item, i) => ({ item, at: (i + 0.5) / items.length }))
  return [...placed(some), ...placed(others)].toSorted((a, b) => a.at - b.at).map(({ item }) => item)
}
