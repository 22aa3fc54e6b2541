/** Text messages over REST: their settings, what they cost, and the opted-out numbers. */
import { FantailError, OPTED_OUT_NUMBERS_MAX } from '@fantail/contracts'
import {
  NumberReference,
  OptOutList,
  OptOutListQuery,
  OptOutView,
  SmsChanges,
  SmsView,
} from '@fantail/contracts/schemas/sms-schemas'
import { parsePhoneNumber } from '@fantail/policy'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { smsAttributes } from '../../sms/sms-attributes.ts'

const TAG = 'Text messages'

export function smsRoutes(deps: ApiDeps): Endpoint[] {
  return [...settingRoutes(deps), ...optOutRoutes(deps)]
}

function settingRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'getSms',
      method: 'GET',
      path: '/v1/sms',
      tag: TAG,
      summary: 'Read the settings and the spend of text messages',
      description:
        'They are the server’s. The spend counts what was reserved for messages that may have been sent.',
      answers: { 200: { description: 'Settings and spend', schema: SmsView } },
      handle: async () => ok(await smsView(deps)),
    }),
    endpoint({
      id: 'changeSms',
      method: 'PATCH',
      path: '/v1/sms',
      tag: TAG,
      summary: 'Change the settings of text messages',
      description: 'The same as SetSMSAttributes of the AWS protocol.',
      body: SmsChanges,
      answers: { 200: { description: 'Settings and spend', schema: SmsView } },
      errors: ['storage_full'],
      handle: (call) => changeSms(deps, call),
    }),
  ]
}

function optOutRoutes(deps: ApiDeps): Endpoint[] {
  const one = { path: '/v1/sms/opt-outs/{number}', params: { number: NumberReference }, tag: TAG } as const
  return [
    endpoint({
      id: 'listOptOuts',
      method: 'GET',
      path: '/v1/sms/opt-outs',
      tag: TAG,
      summary: 'List the phone numbers that are opted out',
      description: 'The list is one for the server, as all messages go out through one provider.',
      query: OptOutListQuery,
      answers: { 200: { description: 'A page, by number', schema: OptOutList } },
      handle: async ({ query }) => {
        const { items, nextCursor } = await deps.sms.optedOut(query)
        return ok({ optOuts: items.map((number) => ({ number })), nextCursor })
      },
    }),
    endpoint({
      ...one,
      id: 'getOptOut',
      method: 'GET',
      summary: 'Ask whether a phone number is opted out',
      description: 'It is if its owner asked the provider or you for that.',
      answers: { 200: { description: 'It is opted out', schema: OptOutView } },
      errors: ['not_found'],
      handle: async ({ params }) => {
        const number = numberAt(params)
        if (!(await deps.sms.isOptedOut(number))) throw notFound('opted-out number')
        return ok({ number })
      },
    }),
    endpoint({
      ...one,
      id: 'optOut',
      method: 'PUT',
      summary: 'Opt a phone number out',
      description:
        'Deliveries to it then fail permanently, and nothing is sent. Call it when the owner of the number ' +
        'answers STOP. Its subscriptions stay.',
      answers: { 200: { description: 'It is opted out', schema: OptOutView } },
      errors: ['conflict', 'storage_full'],
      handle: (call) => optOut(deps, call),
    }),
    endpoint({
      ...one,
      id: 'optIn',
      method: 'DELETE',
      summary: 'Opt a phone number in',
      description:
        'The number gets messages again. A redrive delivers the messages that were dead-lettered before.',
      answers: { 204: { description: 'It is not opted out' } },
      handle: async ({ params, requestId }) => {
        if (await deps.sms.optIn(numberAt(params))) deps.log.info({ requestId }, 'sms.opted_in')
        return NO_CONTENT
      },
    }),
  ]
}

async function smsView(deps: ApiDeps) {
  const [attributes, spent] = await Promise.all([smsAttributes(deps), deps.sms.spentUsd()])
  return {
    monthlySpendLimitUsd: Number(attributes.MonthlySpendLimit),
    spentTodayUsd: spent.today,
    spentThisMonthUsd: spent.thisMonth,
    defaultSenderId: attributes.DefaultSenderID ?? null,
    defaultSmsType: attributes.DefaultSMSType ?? 'Promotional',
  }
}

async function changeSms(
  deps: ApiDeps,
  { body }: Call<unknown, z.output<typeof SmsChanges>>,
): Promise<Answer> {
  const { monthlySpendLimitUsd: limit, defaultSenderId, defaultSmsType } = body
  const most = deps.settings.smsMonthUsd
  if (limit !== undefined && limit > most) {
    throw FantailError.invalid(
      'monthlySpendLimitUsd',
      `must be at most ${most}, as FANTAIL_SMS_MONTH_USD says`,
    )
  }
  const changes = {
    ...(limit !== undefined && { MonthlySpendLimit: String(limit) }),
    ...(defaultSenderId !== undefined && { DefaultSenderID: defaultSenderId }),
    ...(defaultSmsType !== undefined && { DefaultSMSType: defaultSmsType }),
  }
  if (Object.keys(changes).length > 0) await deps.sms.setAttributes(changes)
  return ok(await smsView(deps))
}

async function optOut(
  deps: ApiDeps,
  { params, requestId }: Pick<Call, 'params' | 'requestId'>,
): Promise<Answer> {
  const number = numberAt(params)
  const outcome = await deps.sms.optOut(number)
  if (outcome === 'full') {
    const message = `the opt-out list has ${OPTED_OUT_NUMBERS_MAX} numbers, as many as it takes`
    throw new FantailError('conflict', message)
  }
  if (outcome === 'added') deps.log.info({ requestId }, 'sms.opted_out')
  return ok({ number })
}

function numberAt({ number: given = '' }: Call['params']): string {
  const number = parsePhoneNumber(given)
  if (number !== undefined) return number
  throw FantailError.invalid('number', 'must be a phone number with its country code, like +15550100')
}
