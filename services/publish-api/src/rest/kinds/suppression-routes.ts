/** The suppression list: addresses that get no mail, and imports of bounces that add to it. */
import { FantailError, SUPPRESSIONS_MAX } from '@fantail/contracts'
import {
  AddressReference,
  BouncesAnswer,
  BouncesInput,
  NewSuppressionInput,
  SuppressionList,
  SuppressionListQuery,
  SuppressionView,
} from '@fantail/contracts/schemas/mail-schemas'
import { comparableAddress, isMailAddress } from '@fantail/policy'
import type { Suppression } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'

const TAG = 'Mail'
const WRITE_ERRORS = ['conflict', 'storage_full'] as const

export function suppressionRoutes(deps: ApiDeps): Endpoint[] {
  const one = {
    path: '/v1/email/suppressions/{address}',
    params: { address: AddressReference },
    tag: TAG,
  } as const
  return [
    endpoint({
      id: 'listSuppressions',
      method: 'GET',
      path: '/v1/email/suppressions',
      tag: TAG,
      summary: 'List the addresses that get no mail',
      description: 'The list is one for the server, as all mails go out through one SMTP server.',
      query: SuppressionListQuery,
      answers: { 200: { description: 'A page, by address', schema: SuppressionList } },
      handle: async ({ query }) => {
        const { items, nextCursor } = await deps.suppressions.list(query)
        return ok({ suppressions: items.map(suppressionView), nextCursor })
      },
    }),
    endpoint({
      ...one,
      id: 'suppressAddress',
      method: 'PUT',
      summary: 'Put an address on the suppression list',
      description:
        'Deliveries to it then fail permanently. Nothing is sent, and they go to the dead-letter queue. An address that is on the list stays there as it is.',
      body: NewSuppressionInput,
      bodyIs: 'optional',
      answers: {
        200: { description: 'It was on the list', schema: SuppressionView },
        201: { description: 'It is on the list', schema: SuppressionView },
      },
      errors: [...WRITE_ERRORS],
      handle: (call) => suppressAddress(deps, call),
    }),
    endpoint({
      ...one,
      id: 'releaseAddress',
      method: 'DELETE',
      summary: 'Take an address from the suppression list',
      description:
        'The address gets mail again. A redrive delivers the messages that were dead-lettered before.',
      answers: { 204: { description: 'It is no longer on the list' } },
      errors: ['not_found'],
      handle: async ({ params, requestId }) => {
        const address = comparableAddress(params.address ?? '')
        if (!(await deps.suppressions.remove(address))) throw notFound('suppressed address')
        deps.log.info({ requestId, address }, 'mail.released')
        return NO_CONTENT
      },
    }),
    endpoint({
      id: 'importBounces',
      method: 'POST',
      path: '/v1/email/bounces',
      tag: TAG,
      summary: 'Import bounces and complaints',
      description:
        'Puts the addresses of permanent bounces and of complaints on the suppression list. Call it from the webhook of your mail provider, or with what you read from returned mails.',
      body: BouncesInput,
      answers: { 200: { description: 'How many addresses were added', schema: BouncesAnswer } },
      errors: [...WRITE_ERRORS],
      handle: (call) => importBounces(deps, call),
    }),
  ]
}

async function suppressAddress(
  deps: ApiDeps,
  { params, body, requestId }: Call<unknown, z.output<typeof NewSuppressionInput>>,
): Promise<Answer> {
  const address = addressAt('address', params.address ?? '')
  const { reason, detail } = body
  const suppression = { address, reason, detail, suppressedAt: deps.clock() }
  const outcome = await add(deps, suppression)
  if (outcome === 'added') {
    deps.log.info({ requestId, address, reason }, 'mail.suppressed')
    return { status: 201, body: suppressionView(suppression) }
  }
  return ok(suppressionView((await deps.suppressions.get(address)) ?? suppression))
}

/** Checks all addresses before the first is stored. */
async function importBounces(
  deps: ApiDeps,
  { body, requestId }: Call<unknown, z.output<typeof BouncesInput>>,
): Promise<Answer> {
  const bounces = body.bounces.map((bounce, n) => ({
    ...bounce,
    address: addressAt(`bounces[${n}].address`, bounce.address),
  }))
  const lasting = bounces.filter(
    ({ type, status }) => type === 'complaint' || !status || status.startsWith('5'),
  )
  const counts = { suppressed: 0, present: 0, ignored: bounces.length - lasting.length }
  for (const { address, type, status, detail } of lasting) {
    const words = [status, detail].filter(Boolean).join(' ')
    const outcome = await add(deps, { address, reason: type, detail: words, suppressedAt: deps.clock() })
    counts[outcome === 'added' ? 'suppressed' : 'present']++
  }
  deps.log.info({ requestId, ...counts }, 'mail.bounces_imported')
  return ok(counts)
}

async function add({ suppressions }: ApiDeps, suppression: Suppression): Promise<'added' | 'present'> {
  const outcome = await suppressions.add(suppression)
  if (outcome !== 'full') return outcome
  const message = `the suppression list has ${SUPPRESSIONS_MAX} addresses, as many as it takes`
  throw new FantailError('conflict', message)
}

function addressAt(path: string, text: string): string {
  if (!isMailAddress(text)) throw FantailError.invalid(path, 'must be a mail address')
  return comparableAddress(text)
}

function suppressionView({ suppressedAt, ...suppression }: Suppression) {
  return { ...suppression, suppressedAt: iso(suppressedAt) }
}
