/**
 * Judges how the SMTP server ended a mail.
 *
 * | answer | result |
 * |---|---|
 * | 2yz after the text | delivered: the server has accepted it; a bounce may still come |
 * | 4yz, a broken connection, no answer in time | retried, with the same Message-ID |
 * | 5yz to the recipient or the text | permanent |
 * | 5yz to the greeting, the login or the sender; a refused certificate; TLS that is not offered | misconfigured |
 *
 * Sources: RFC 5321 §4.2.3, RFC 3463, RFC 4954 §6, and nodemailer's error codes.
 */
import type { AttemptErrorCode } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'

/** An error of nodemailer. */
export interface SmtpError extends Error {
  code?: string
  /** The code of the socket or of TLS, if nodemailer has replaced it. */
  originalCode?: string
  response?: string
  responseCode?: number
  command?: string
}

export type SmtpOutcome =
  | { end: 'replied'; reply: number; text: string; resultClass?: 'retry'; badRecipient?: true }
  | { end: 'unreplied'; error: AttemptErrorCode; detail: string; permanent: boolean }
  | { end: 'misconfigured'; detail: string }

/** The server refuses the login, or requires one. */
const LOGIN_REPLIES = new Set([530, 534, 535, 538])
const OWN_CODES = new Set(['EAUTH', 'ENOAUTH', 'EOAUTH2', 'ETLS', 'EREQUIRETLS', 'ECONFIG'])
/** SMTP commands that concern one mail. If the server refuses any other command, no mail can be sent. */
const OF_ONE_MAIL = new Set(['RCPT TO', 'DATA'])
/** Codes of Node and OpenSSL for a certificate or protocol that is not accepted. */
const REFUSED_TLS = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|^ERR_SSL_|^ERR_TLS_|^EPROTO$|HOSTNAME_MISMATCH/
const EXCEEDED_STORAGE = 552

export function outcomeOfReply(response: string): SmtpOutcome {
  return { end: 'replied', reply: replyCodeOf(response), text: response }
}

export function outcomeOfError(error: SmtpError): SmtpOutcome {
  const { responseCode: reply } = error
  if (reply !== undefined && reply >= 400 && reply < 500) return repliedWith(error, reply)
  if (isOwnFault(error)) return { end: 'misconfigured', detail: detailOf(error) }
  if (reply !== undefined) return repliedWith(error, reply)
  return {
    end: 'unreplied',
    error: errorCodeOf(error),
    detail: detailOf(error),
    permanent: error.code === 'EMESSAGE' || error.code === 'EENVELOPE',
  }
}

function repliedWith(error: SmtpError, reply: number): SmtpOutcome {
  const text = withoutTokens(error.response ?? String(reply))
  return {
    end: 'replied',
    reply,
    text,
    ...(isTooManyRecipients(reply, text) && { resultClass: 'retry' }),
    ...(isBadRecipient(error, reply, text) && { badRecipient: true }),
  }
}

function isOwnFault(error: SmtpError): boolean {
  const { code = '', originalCode = '', responseCode, command = '' } = error
  if (responseCode !== undefined) {
    if (LOGIN_REPLIES.has(responseCode) || OWN_CODES.has(code)) return true
    // The server may refuse a mail for its size as early as at the command with the sender (RFC 1870).
    return responseCode !== EXCEEDED_STORAGE && !OF_ONE_MAIL.has(command)
  }
  return OWN_CODES.has(code) ? !isBroken(error) : REFUSED_TLS.test(originalCode)
}

/**
 * Whether TLS failed because the connection broke. That is a fault of the network. After STARTTLS only the error's
 * message shows it.
 */
function isBroken({ originalCode = '', message }: SmtpError): boolean {
  return BROKEN.test(originalCode) || BROKEN.test(message)
}

const BROKEN = /ECONNRESET|EPIPE|ETIMEDOUT|closed unexpectedly|disconnected before secure/

/** RFC 5321 §4.5.3.1.10: an older form of 452. */
function isTooManyRecipients(reply: number, text: string): boolean {
  return reply === EXCEEDED_STORAGE && /too many recipients|5\.5\.3/i.test(text)
}

/** The address does not exist. The server shows this by the enhanced code 5.1.x (RFC 3463 §3.2). */
function isBadRecipient({ command }: SmtpError, reply: number, text: string): boolean {
  return command === 'RCPT TO' && [550, 551, 553].includes(reply) && /^\d{3}[ -]5\.1\.\d{1,3}\b/.test(text)
}

function replyCodeOf(response: string): number {
  const code = Number(/^\d{3}/.exec(response)?.[0])
  return Number.isNaN(code) ? 250 : code
}

const ERRORS = new Map(
  Object.entries<AttemptErrorCode>({
    EDNS: 'dns',
    ETIMEDOUT: 'timeout',
    EABORT: 'timeout',
    EPROTOCOL: 'invalid_response',
    EMESSAGE: 'invalid_response',
    EENVELOPE: 'invalid_response',
    EPROXY: 'proxy',
  }),
)
const SOCKET_ERRORS = new Map(
  Object.entries<AttemptErrorCode>({
    ECONNREFUSED: 'connection_refused',
    ECONNRESET: 'connection_reset',
    EPIPE: 'connection_reset',
    ETIMEDOUT: 'timeout',
  }),
)

function errorCodeOf({ code = '', originalCode = '' }: SmtpError): AttemptErrorCode {
  const found = SOCKET_ERRORS.get(originalCode) ?? ERRORS.get(code)
  if (found !== undefined) return found
  return code === 'ECONNECTION' || code === '' ? 'connection_reset' : 'connection_failed'
}

/** Characters of an SMTP server's reply that logs and answers show. Past it: the text is cut. */
const DETAIL_CHARS_MAX = 300

function detailOf({ message, code, originalCode }: SmtpError): string {
  const codes = [originalCode ?? code].filter((word) => word !== undefined)
  return withoutTokens([...codes, message].join(': '))
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, DETAIL_CHARS_MAX)
}
