/** Routes of the quarantine: data that cannot be decoded, until an operator puts it back or deletes it. */
import { needScope } from '@fantail/access'
import {
  PutBackAnswer,
  QuarantineExport,
  QuarantineList,
  QuarantineListQuery,
  QuarantineReference,
} from '@fantail/contracts/schemas/quarantine-schemas'
import { NoBody } from '@fantail/contracts/schemas/shared-schemas'
import { deletedOutcomes, isOfDeliveries, QUARANTINE_DELETED, type QuarantineEntry } from '@fantail/store'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'
import { putBack } from '../../quarantine/put-back.ts'

const TAG = 'Quarantine'
const utf8 = new TextDecoder('utf-8', { fatal: true })

const params = { id: QuarantineReference }

export function quarantineRoutes(deps: ApiDeps): Endpoint[] {
  const { quarantine } = deps
  return [
    endpoint({
      id: 'listQuarantine',
      method: 'GET',
      path: '/v1/quarantine',
      tag: TAG,
      summary: 'List what cannot be decoded',
      description:
        'Nothing leaves the quarantine by itself: each entry waits until it is put back or deleted.',
      query: QuarantineListQuery,
      answers: { 200: { description: 'A page, by id', schema: QuarantineList } },
      handle: async ({ query }) => {
        const { items, nextCursor } = await quarantine.list(query)
        return ok({ entries: items.map(entryView), nextCursor })
      },
    }),
    endpoint({
      id: 'exportQuarantineEntry',
      method: 'GET',
      path: '/v1/quarantine/{id}',
      params,
      tag: TAG,
      summary: 'Export an entry with its raw bytes',
      description:
        'The bytes are those that were stored, in base64, and as text where they are UTF-8. A key also needs the ' +
        'scope `bodies`.',
      answers: { 200: { description: 'The entry', schema: QuarantineExport } },
      errors: ['not_found'],
      handle: async (call) => {
        if (call.caller) needScope(call.caller, ['bodies'])
        const { entry, raw } = await found(deps, call)
        return ok({ ...entryView(entry), raw: raw.toString('base64'), text: textOf(raw) })
      },
    }),
    endpoint({
      id: 'putBackQuarantineEntry',
      method: 'POST',
      path: '/v1/quarantine/{id}/put-back',
      params,
      tag: TAG,
      summary: 'Deliver what an entry holds, and remove the entry',
      description:
        'Its messages are dispatched again under their own ids, and a single delivery goes to its lane. The answer is 409, and the entry stays, if this release cannot decode it either, or if its topic or subscription is gone.',
      body: NoBody,
      bodyIs: 'optional',
      answers: {
        200: {
          description: 'The entry’s content is under way again, and the entry is gone.',
          schema: PutBackAnswer,
        },
      },
      errors: ['not_found', 'wrong_state', 'storage_full'],
      handle: (call) => handlePutBack(deps, call),
    }),
    endpoint({
      id: 'deleteQuarantineEntry',
      method: 'DELETE',
      path: '/v1/quarantine/{id}',
      params,
      tag: TAG,
      summary: 'Delete an entry permanently',
      description:
        'Its content is not delivered and counts as discarded (`quarantineDeleted`). Export it first: nothing brings it back. A record stays where it is, and the next sweep lists it again.',
      answers: { 204: { description: 'It is gone' } },
      errors: ['not_found'],
      handle: (call) => handleDelete(deps, call),
    }),
  ]
}

/**
 * The log is written first, because a deleted entry could not be explained any more. A repeated call adds the same
 * entries again.
 */
async function handleDelete({ quarantine, outcomes, counts, log }: ApiDeps, call: Call): Promise<Answer> {
  const id = call.params.id ?? ''
  const [entry, messageIds] = await Promise.all([quarantine.get(id), quarantine.messageIds(id)])
  if (entry) await outcomes.append(deletedOutcomes(entry, messageIds))
  if (!(await quarantine.remove(id))) throw notFound('quarantine entry')
  if (entry && isOfDeliveries(entry)) await counts.add(`discarded:${QUARANTINE_DELETED}`)
  log.info({ requestId: call.requestId, id }, 'quarantine.deleted')
  return NO_CONTENT
}

async function handlePutBack(deps: ApiDeps, call: Call): Promise<Answer> {
  const { entry, raw } = await found(deps, call)
  const restsOn = deps.quarantine.mark()
  const done = await putBack(deps, entry, raw)
  await deps.quarantine.remove(entry.id, restsOn)
  deps.log.info({ requestId: call.requestId, id: entry.id, ...done }, 'quarantine.put_back')
  return ok(done)
}

async function found(
  { quarantine }: ApiDeps,
  { params }: Pick<Call, 'params'>,
): Promise<{ entry: QuarantineEntry; raw: Buffer }> {
  const id = params.id ?? ''
  const [entry, raw] = await Promise.all([quarantine.get(id), quarantine.raw(id)])
  if (!entry || !raw) throw notFound('quarantine entry')
  return { entry, raw }
}

function entryView(entry: QuarantineEntry): object {
  return { ...entry, quarantinedAt: iso(entry.quarantinedAt) }
}

function textOf(raw: Buffer): string | null {
  try {
    return utf8.decode(raw)
  } catch {
    return null
  }
}
