/** SNS's operations for text messages: attributes and the opt-out list (checklist 374 to 379). */
import type { AwsInput, Operation } from '@fantail/aws-wire'
import { LIST_LIMIT_MAX } from '@fantail/contracts'
import { parsePhoneNumber } from '@fantail/policy'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { attributeProblem, smsAttributes } from '../../../sms/sms-attributes.ts'
import { invalidParameter, missingParameter, unprefixed } from '../wire/refusals.ts'

export function smsOperations(deps: ApiDeps): Operation[] {
  return [
    {
      name: 'GetSMSAttributes',
      input: { attributes: { list: 'string' } },
      output: { attributes: { map: 'string' } },
      run: async ({ attributes }) => ({ attributes: await selected(deps, attributes) }),
    },
    {
      name: 'SetSMSAttributes',
      input: { attributes: { map: 'string' } },
      output: {},
      run: (input) => setAttributes(deps, input),
    },
    {
      name: 'CheckIfPhoneNumberIsOptedOut',
      input: { phoneNumber: 'string' },
      output: { isOptedOut: 'boolean' },
      run: async ({ phoneNumber }) => ({ isOptedOut: await deps.sms.isOptedOut(numberOf(phoneNumber)) }),
    },
    {
      name: 'ListPhoneNumbersOptedOut',
      input: { nextToken: 'string' },
      output: { phoneNumbers: { list: 'string' }, nextToken: 'string' },
      run: (input) => listOptedOut(deps, input),
    },
    {
      name: 'OptInPhoneNumber',
      input: { phoneNumber: 'string' },
      output: {},
      run: async ({ phoneNumber }, { requestId }) => {
        if (await deps.sms.optIn(numberOf(phoneNumber))) deps.log.info({ requestId }, 'sms.optedIn')
        return {}
      },
    },
  ]
}

/** The attributes that the request names. If it names none: all attributes. */
async function selected(deps: ApiDeps, names: unknown): Promise<Record<string, string>> {
  const all = await smsAttributes(deps)
  if (!Array.isArray(names) || names.length === 0) return all
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

async function setAttributes({ sms, settings }: ApiDeps, { attributes }: AwsInput) {
  if (attributes === undefined) throw missingParameter('attributes')
  const given = attributes as Record<string, string>
  for (const [name, value] of Object.entries(given)) {
    const problem = attributeProblem(name, value, settings.smsMonthUsd)
    if (problem !== undefined) throw unprefixed(problem)
  }
  if (Object.keys(given).length > 0) await sms.setAttributes(given)
  return {}
}

async function listOptedOut({ sms }: ApiDeps, { nextToken }: AwsInput) {
  const cursor = nextToken === undefined ? undefined : String(nextToken)
  const page = await sms.optedOut({ cursor, limit: LIST_LIMIT_MAX })
  return { phoneNumbers: page.items, ...(page.nextCursor !== null && { nextToken: page.nextCursor }) }
}

function numberOf(given: unknown): string {
  if (given === undefined) throw missingParameter('PhoneNumber')
  const number = parsePhoneNumber(String(given))
  if (number !== undefined) return number
  throw invalidParameter('PhoneNumber Reason: input incorrectly formatted')
}
