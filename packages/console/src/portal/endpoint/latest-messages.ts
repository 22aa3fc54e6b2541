/** The latest messages of an endpoint, as the list and the state of the endpoint need them. */
import { listPortalMessages } from '@fantail/client/api'
import type { OutputOf } from '../../api/api-calls.ts'
import { usePages } from '../../api/use-api.ts'

export type Message = OutputOf<typeof listPortalMessages>['messages'][number]

export const MESSAGE_STATES = ['delivered', 'waiting', 'failed'] as const
export type MessageState = (typeof MESSAGE_STATES)[number]

/** A phone shows about this many at once. */
const PAGE_ROWS = 20

/** The API reads the text of each message for its line. */
const MESSAGES_EVERY_MS = 10_000

/** state '': all of them. */
export function useLatestMessages(id: string, state: MessageState | '') {
  const query = { limit: PAGE_ROWS, ...(state !== '' && { state }) }
  return usePages(listPortalMessages, { path: { id }, query }, { everyMs: MESSAGES_EVERY_MS })
}
