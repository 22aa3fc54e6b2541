import type { ReceivedRequest } from '@fantail/test-kit'

/** When requests came (epoch ms), in order, by what `keyOf` returns. */
export function timesBy(
  requests: ReceivedRequest[],
  keyOf: (request: ReceivedRequest) => string,
): Map<string, number[]> {
  const inOrder = requests.toSorted((a, b) => a.at - b.at)
  const groups = [...Map.groupBy(inOrder, keyOf)]
  return new Map(groups.map(([key, all]) => [key, all.map(({ at }) => at)]))
}
