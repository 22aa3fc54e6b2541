/** Operations of SNS for text messages: attributes, the opt-out list and the sandbox (checklist 374 to 382). */
import { AwsError, type AwsInput, type Operation } from '@fantail/aws-wire'
import { LIST_LIMIT_MAX, SANDBOX_NUMBERS_MAX } from '@fantail/contracts'
import { parsePhoneNumber } from '@fantail/policy'
import type { ApiDeps } from '../../../deps/api-deps.ts'
import { attributeProblem, smsAttributes } from '../../../sms/sms-attributes.ts'
import { invalidParameter, missingParameter, unprefixed } from '../wire/sns-parameters.ts'

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
        if (await deps.sms.optIn(numberOf(phoneNumber))) deps.log.info({ requestId }, 'sms.opted_in')
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

const NUMBER = /^(\+[0-9]{8,}|[0-9]{0,9})$/
/** @limit Phone number of the SMS sandbox. Past it: the request is refused. */
const SANDBOX_NUMBER_CHARS_MAX = 20
const CODE = /^[0-9]{5,8}$/
const LANGUAGES = new Set(
  'en-US en-GB es-419 es-ES de-DE fr-CA fr-FR it-IT ja-JP pt-BR kr-KR zh-CN zh-TW'.split(' '),
)
/** @limit Numbers in a page of ListSMSSandboxPhoneNumbers, and the default. Past it: the request is refused. */
const SANDBOX_PAGE_MAX = 100

/**
 * SNS's SMS sandbox (checklist 381, 382). Fantail has no sandbox: messages go to every number that the operator allows.
 * The operations keep a small list, so that set-up scripts run. No code is sent, and any code verifies.
 */
export function sandboxOperations(deps: ApiDeps): Operation[] {
  const { sandboxNumbers } = deps
  return [
    {
      name: 'GetSMSSandboxAccountStatus',
      input: {},
      output: { IsInSandbox: 'boolean' },
      run: async () => ({ IsInSandbox: false }),
    },
    {
      name: 'CreateSMSSandboxPhoneNumber',
      input: { PhoneNumber: 'string', LanguageCode: 'string' },
      output: {},
      run: (input) => addNumber(deps, input),
    },
    {
      name: 'VerifySMSSandboxPhoneNumber',
      input: { PhoneNumber: 'string', OneTimePassword: 'string' },
      output: {},
      run: async ({ PhoneNumber, OneTimePassword }) => {
        if (!CODE.test(String(OneTimePassword ?? ''))) throw invalidParameter('OneTimePassword')
        if (!(await sandboxNumbers.verify(sandboxNumber(PhoneNumber)))) throw noSuchNumber()
        return {}
      },
    },
    {
      name: 'DeleteSMSSandboxPhoneNumber',
      input: { PhoneNumber: 'string' },
      output: {},
      run: async ({ PhoneNumber }) => {
        if (!(await sandboxNumbers.remove(sandboxNumber(PhoneNumber)))) throw noSuchNumber()
        return {}
      },
    },
    {
      name: 'ListSMSSandboxPhoneNumbers',
      input: { NextToken: 'string', MaxResults: 'integer' },
      output: {
        PhoneNumbers: { list: { struct: { PhoneNumber: 'string', Status: 'string' } } },
        NextToken: 'string',
      },
      run: (input) => listNumbers(deps, input),
    },
    {
      name: 'ListOriginationNumbers',
      input: { NextToken: 'string', MaxResults: 'integer' },
      output: { PhoneNumbers: { list: { struct: { PhoneNumber: 'string' } } }, NextToken: 'string' },
      run: async () => ({ PhoneNumbers: [] }),
    },
  ]
}

async function addNumber(
  { sandboxNumbers, sms }: ApiDeps,
  { PhoneNumber, LanguageCode = 'en-US' }: AwsInput,
) {
  const number = sandboxNumber(PhoneNumber)
  if (!LANGUAGES.has(String(LanguageCode))) throw invalidParameter('LanguageCode')
  if (await sms.isOptedOut(number)) throw new AwsError('OptedOut', 'Phone number is opted out')
  if (await sandboxNumbers.add(number)) return {}
  throw new AwsError('UserError', `there are ${SANDBOX_NUMBERS_MAX} numbers, as many as the sandbox takes`)
}

/** NextToken is the last number of the page before. */
async function listNumbers(
  { sandboxNumbers }: ApiDeps,
  { NextToken, MaxResults = SANDBOX_PAGE_MAX }: AwsInput,
) {
  const limit = Number(MaxResults)
  if (limit < 1 || limit > SANDBOX_PAGE_MAX)
    throw invalidParameter(`MaxResults Reason: must be 1 to ${SANDBOX_PAGE_MAX}`)
  const after = String(NextToken ?? '')
  const rest = (await sandboxNumbers.list()).filter(({ number }) => number > after)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return {
    PhoneNumbers: page.map(({ number, status }) => ({ PhoneNumber: number, Status: status })),
    ...(last && page.length < rest.length && { NextToken: last.number }),
  }
}

function sandboxNumber(given: unknown): string {
  if (given === undefined) throw missingParameter('PhoneNumber')
  const number = String(given)
  if (number !== '' && number.length <= SANDBOX_NUMBER_CHARS_MAX && NUMBER.test(number)) return number
  throw invalidParameter('PhoneNumber Reason: input incorrectly formatted')
}

function noSuchNumber(): AwsError {
  return new AwsError('ResourceNotFound', 'Phone number does not exist', { status: 404 })
}
