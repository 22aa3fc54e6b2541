/** The request of the board of lanes. */
import type { InputOf, operations } from '../../api/api-calls.ts'

const ROWS = 100

type Input = InputOf<typeof operations.listLanes>
type Query = NonNullable<Input['query']>

interface LanesChoice {
  sort: NonNullable<Query['sort']>
  state?: Query['state'] | ''
  topic?: string | undefined
  host?: string | undefined
  q?: string | undefined
  isGrouped?: boolean
}

export function lanesInput({ sort, state, topic, host, q, isGrouped }: LanesChoice) {
  const query: Query = {
    sort,
    ...(state && { state }),
    ...(topic && { topic }),
    ...(host && { host }),
    ...(q && { q }),
    ...(isGrouped && { groupBy: 'host' as const }),
    limit: ROWS,
  }
  return { query }
}
