/** Work on several items at a time. Behind a distant Redis, one item after the other would take a round trip each. */

/** Shards that a sweep works on at a time. Past it: the others follow. Redis answers other clients between them. */
export const SHARDS_AT_ONCE = 8

/**
 * Does the work on all items, and on `atOnceMax` at a time at most. Returns the results in the order of the items.
 * After a failure no further item begins. It rejects with the first failure when all work that had begun has ended, so
 * that nothing is written after that.
 */
export async function sideBySide<Item, Result>(
  items: readonly Item[],
  atOnceMax: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const failures: unknown[] = []
  const rest = items.entries()
  const takeNext = async () => {
    for (const [i, item] of rest) {
      try {
        results[i] = await work(item)
      } catch (error) {
        failures.push(error)
      }
      if (failures.length > 0) return
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, takeNext))
  if (failures.length > 0) throw failures[0]
  return results
}
