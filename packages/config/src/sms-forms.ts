/** Settings of text messages: the senders, the countries, and the meaning of the provider's answers. */
import { isObject, jsonOf } from '@fantail/contracts'
import { isSmsMeaning, SMS_MEANINGS, type SmsCountry, type SmsMeaning } from '@fantail/policy'
import { z } from 'zod'

const COUNTRY = /^(\+[1-9]\d{0,9})(?:=(\d{1,4}(?:\.\d{1,6})?))?$/

/** `+1=0.0079,+49`: the first digits of phone numbers, optionally with the price of one part in USD. */
export const smsCountries = () =>
  z.string().transform((text, { addIssue }): SmsCountry[] => {
    const matches = text.split(',').map((entry) => COUNTRY.exec(entry.trim()))
    if (matches.includes(null)) {
      addIssue('must be country codes with or without a price in USD, separated by commas: +1=0.0079,+49')
    }
    return matches.map((match) => {
      const [, prefix = '', price] = match ?? []
      return { prefix, ...(price !== undefined && { priceUsd: Number(price) }) }
    })
  })

const TWILIO = /^(AC[A-Za-z0-9]{1,64}):([^\s:,]{1,256})$/

/** The problem never repeats the text. */
export const twilioLogin = () =>
  z.string().transform((text, { addIssue }) => {
    const [, accountSid, authToken] = TWILIO.exec(text) ?? []
    if (accountSid && authToken) return { accountSid, authToken }
    addIssue('must be ACCOUNTSID:AUTHTOKEN; the account SID begins with AC')
    return z.NEVER
  })

/** @limit Template of the body of a text message's request. Past it: the service does not start. */
const SMS_BODY_CHARS_MAX = 10_000

export const smsBody = () =>
  z.string().refine((text) => text.length <= SMS_BODY_CHARS_MAX && hasText(text), {
    message: `must have {number} and {message}, and at most ${SMS_BODY_CHARS_MAX} characters`,
  })

function hasText(template: string): boolean {
  return template.includes('{number}') && template.includes('{message}')
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const HEADER_VALUE = /^[\x20-\x7e]{0,4096}$/
const BODY_TYPES = /^application\/(json|x-www-form-urlencoded)\s*(;|$)/i

/** JSON: values by names. They may hold a login, so the problem never repeats a value. */
export const smsHeaders = () =>
  z.string().transform((text, { addIssue }): Record<string, string> => {
    const headers = jsonOf(text)
    if (!isObject(headers) || !Object.entries(headers).every(isHeader)) {
      addIssue('must be a JSON object of header values in ASCII by names')
      return z.NEVER
    }
    const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
    if (type === undefined || BODY_TYPES.test(String(type))) return headers as Record<string, string>
    addIssue('must have application/json or application/x-www-form-urlencoded as its content-type')
    return z.NEVER
  })

function isHeader([name, value]: [string, unknown]): boolean {
  return HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value)
}

/** `402=misconfigured,409=delivered` */
export const smsStatuses = () =>
  z.string().transform((text, { addIssue }): Record<string, SmsMeaning> => {
    const entries = text.split(',').map((entry) => entry.trim().split('='))
    const isRight = ([status = '', meaning = '', ...more]: string[]) =>
      /^[2-5]\d\d$/.test(status) && isSmsMeaning(meaning) && more.length === 0
    if (entries.every(isRight)) return Object.fromEntries(entries)
    addIssue(`must be STATUS=MEANING, separated by commas; a meaning is one of ${SMS_MEANINGS.join(', ')}`)
    return z.NEVER
  })
