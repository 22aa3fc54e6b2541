/** Reads and changes for screens. Reads are cached, and repeated while the page is visible and not paused by `p`. */
import {
  infiniteQueryOptions,
  keepPreviousData,
  QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { InputOf, Operation, OutputOf } from './api-calls.ts'
import { ApiError } from './api-error.ts'
import { earlyReads, takeEarly } from './early-reads.ts'
import { type Connection, currentConnection, subscribeToConnection } from './liveness.ts'
import { send } from './send.ts'

export const SCREEN_REFRESH_MS = 2_000
const SLOW_REFRESH_MS = 5_000

/** There are no retries: a failed read is repeated at the next refresh. */
export function createQueryClient(): QueryClient {
  // The API may be on this machine, so it may answer even if the browser is offline.
  const networkMode = 'always'
  return new QueryClient({
    defaultOptions: {
      queries: { networkMode, retry: false, staleTime: 1_000, refetchOnWindowFocus: true },
      mutations: { networkMode },
    },
  })
}

interface ReadOptions {
  /** Default 5 s. false: once. */
  everyMs?: number | false
  enabled?: boolean
}

/** The build shortens names of functions, so each operation gets a number as its key. */
const numbers = new Map<Operation, number>()

function keyOf(operation: Operation, input: object): unknown[] {
  const number = numbers.get(operation) ?? numbers.size
  numbers.set(operation, number)
  return [number, input]
}

export function useRead<Run extends Operation>(
  operation: Run,
  input: InputOf<Run>,
  options: ReadOptions = {},
) {
  const isPaused = usePaused()
  const { everyMs = SLOW_REFRESH_MS, enabled = true } = options
  return useQuery({
    ...readOf(operation, input),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (isPaused || isFinal(query.state.error) ? false : everyMs),
  })
}

function readOf<Run extends Operation>(operation: Run, input: InputOf<Run>) {
  return queryOptions({
    queryKey: keyOf(operation, input),
    queryFn: ({ signal }) => takeEarly(operation, input) ?? send(operation, input, signal),
  })
}

/** Nothing changes by asking again. */
function isFinal(error: Error | null): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
}

type Paged = (options: never) => Promise<{ nextCursor: string | null } | undefined>

/** A list of the API, page by page. All pages that are shown are read again together. */
export function usePages<Run extends Paged>(
  operation: Run,
  input: InputOf<Run>,
  { everyMs = SLOW_REFRESH_MS }: Pick<ReadOptions, 'everyMs'> = {},
) {
  const isPaused = usePaused()
  return useInfiniteQuery({
    ...pagesOf(operation, input),
    placeholderData: keepPreviousData,
    // A costly list is read again only on demand.
    refetchOnWindowFocus: everyMs !== false,
    refetchInterval: (query) => (isPaused || isFinal(query.state.error) ? false : everyMs),
  })
}

function pagesOf<Run extends Paged>(operation: Run, input: InputOf<Run>) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(operation, input), 'pages'],
    queryFn: ({ signal, pageParam }) => {
      const page = withCursor(input, pageParam)
      return takeEarly(operation, page) ?? send(operation, page, signal)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page as { nextCursor: string | null }).nextCursor ?? undefined,
  })
}

/** Puts the answers of early reads into the cache, so that screens have their data when they are drawn first. */
export async function keepEarlyReads(queries: QueryClient): Promise<void> {
  const kept = earlyReads().map(({ operation, input, isPaged }) =>
    isPaged
      ? queries.prefetchInfiniteQuery(pagesOf(operation as Paged, input as never))
      : queries.prefetchQuery(readOf(operation, input as never)),
  )
  await Promise.all(kept)
}

function withCursor<Input extends object>(input: Input, cursor: string | undefined): Input {
  const { query } = input as { query?: object }
  return { ...input, query: { ...query, cursor } }
}

/**
 * Makes a change. Afterwards all screens read their data again. `onSuccess` runs before that, so it runs even if the
 * new data remove the part of the page that made the change.
 */
export function useWrite<Run extends Operation>(operation: Run, onSuccess?: (output: OutputOf<Run>) => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: InputOf<Run>) => send(operation, input),
    onSuccess: (output) => onSuccess?.(output),
    onSettled: () => queries.invalidateQueries(),
  })
}

let isPaused = false
const listeners = new Set<() => void>()

/** Whether the screens are paused. A paused console sends no reads. */
export function togglePause(): void {
  isPaused = !isPaused
  for (const listener of listeners) listener()
}

export function usePaused(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isPaused,
  )
}

/** Whether the console reaches the API, for screens. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribeToConnection, currentConnection)
}
