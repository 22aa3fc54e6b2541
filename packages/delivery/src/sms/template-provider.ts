/**
 * A provider that the operator describes with URL, method, headers, a template of the body, and the meanings of
 * statuses. Values are escaped for the body's content type before they replace the placeholders. So the text of a
 * message cannot add members to the body.
 */
import type { SmsMessage } from './sms-message.ts'
import { type SmsProvider, smsDetail, usualMeaning } from './sms-provider.ts'
import type { SmsSettings } from './sms-settings.ts'

const BODY_DEFAULT = '{"to":"{number}","from":"{sender}","text":"{message}","id":"{id}"}'
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const PLACEHOLDER = /\{(number|message|sender|id|type)\}/g

type Escape = (text: string) => string
const ESCAPES = new Map(
  Object.entries<Escape>({
    [JSON_TYPE]: (text) => JSON.stringify(text).slice(1, -1),
    [FORM_TYPE]: (text) => encodeURIComponent(text),
  }),
)

/**
 * A placeholder must be inside a JSON string, or must be the value of a form field. Throws a TypeError if a placeholder
 * is anywhere else.
 */
export function createTemplateProvider(settings: SmsSettings & { smsUrl: string }): SmsProvider {
  const { smsUrl: url, smsMethod: method = 'POST', smsBody: template = BODY_DEFAULT } = settings
  const { smsStatuses: statuses = {} } = settings
  const headers = withType(settings.smsHeaders ?? {})
  const quote = escapeFor(headers)
  return {
    credential: `sms:${URL.parse(url)?.host ?? ''}`,
    requestOf: (message) => ({ url, method, headers, body: filled(template, message, quote) }),
    judge: ({ statusCode, body }) => ({
      meaning: statuses[statusCode] ?? usualMeaning(statusCode),
      detail: smsDetail(`${statusCode} ${body?.toString() ?? ''}`.trimEnd()),
    }),
  }
}

function withType(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { 'content-type': JSON_TYPE, 'user-agent': 'Fantail', ...Object.fromEntries(lower) }
}

function escapeFor(headers: Record<string, string>): Escape {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';', 1)
  const quote = ESCAPES.get(type.trim())
  if (quote) return quote
  throw new TypeError(`the body of a text message must be ${JSON_TYPE} or ${FORM_TYPE}`)
}

function filled(template: string, message: SmsMessage, quote: Escape): string {
  const values: Record<string, string> = { ...message, message: message.text }
  return template.replace(PLACEHOLDER, (_, name: string) => quote(values[name] ?? ''))
}
