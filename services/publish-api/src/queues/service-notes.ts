/** Notes every few seconds that this API serves the queues, because a lease ends only after a time of service. */
import { createLoop, type Logger, type WakeableLoop } from '@fantail/runtime'
import { type Queues, SERVICE_NOTE_MS } from '@fantail/store'

interface ServiceNotes {
  queues: Pick<Queues, 'noteService'>
  log: Logger
}

export function createServiceNotes({ queues, log }: ServiceNotes): WakeableLoop {
  return createLoop({
    name: 'service_notes',
    log,
    round: async () => {
      await queues.noteService()
      return SERVICE_NOTE_MS
    },
  })
}
