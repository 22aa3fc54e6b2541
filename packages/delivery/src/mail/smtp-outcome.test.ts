import { expect, test } from 'vitest'
import { outcomeOfError, outcomeOfReply, type SmtpError } from './smtp-outcome.ts'

type Given = Omit<Partial<SmtpError>, 'message'>

const errorOf = (given: Given): SmtpError => Object.assign(new Error('it failed'), given)
const replied = (response: string, command: string, code = 'EENVELOPE') =>
  outcomeOfError(errorOf({ response, responseCode: Number(response.slice(0, 3)), command, code }))

test('the reply after the text is the answer', () => {
  expect(outcomeOfReply('250 2.0.0 Ok: queued as 4F')).toEqual({
    end: 'replied',
    reply: 250,
    text: '250 2.0.0 Ok: queued as 4F',
  })
})

test.each([
  ['421 closing', 'RCPT TO'],
  ['450 4.2.1 mailbox busy', 'RCPT TO'],
  ['451 4.7.1 greylisted', 'RCPT TO'],
  ['452 4.2.2 full', 'DATA'],
  ['454 4.7.0 TLS not available', 'STARTTLS'],
  ['454 4.7.0 temporary authentication failure', 'AUTH PLAIN'],
  ['451 try later', 'MAIL FROM'],
])('%s to %s is the mail’s own answer', (response, command) => {
  const code = command.startsWith('AUTH') ? 'EAUTH' : command === 'STARTTLS' ? 'ETLS' : 'EENVELOPE'
  expect(replied(response, command, code)).toMatchObject({
    end: 'replied',
    reply: Number(response.slice(0, 3)),
  })
})

test.each([
  ['550 5.1.1 no such user', 'RCPT TO', true],
  ['551 5.1.6 has moved', 'RCPT TO', true],
  ['553 5.1.3 bad syntax', 'RCPT TO', true],
  ['550 5.7.1 blocked by policy', 'RCPT TO', undefined],
  ['550 no such user', 'RCPT TO', undefined],
  ['554 5.7.1 spam', 'DATA', undefined],
  ['552 5.3.4 too large', 'MAIL FROM', undefined],
])('%s to %s is permanent; the address is bad: %s', (response, command, badRecipient) => {
  const outcome = replied(response, command)
  expect(outcome).toMatchObject({ end: 'replied', reply: Number(response.slice(0, 3)) })
  expect('badRecipient' in outcome ? outcome.badRecipient : undefined).toBe(badRecipient)
})

test('552 for too many recipients is retried, as 452 is', () => {
  expect(replied('552 too many recipients', 'RCPT TO')).toMatchObject({ reply: 552, resultClass: 'retry' })
  expect(replied('552 mailbox full', 'RCPT TO')).not.toHaveProperty('resultClass')
})

test.each<Given>([
  { code: 'EAUTH', response: '535 5.7.8 wrong password', responseCode: 535, command: 'AUTH PLAIN' },
  { code: 'EENVELOPE', response: '530 5.7.0 login first', responseCode: 530, command: 'MAIL FROM' },
  { code: 'EENVELOPE', response: '530 5.7.0 login first', responseCode: 530, command: 'RCPT TO' },
  { code: 'EENVELOPE', response: '553 5.7.1 not your address', responseCode: 553, command: 'MAIL FROM' },
  { code: 'EPROTOCOL', response: '554 5.7.1 we know you', responseCode: 554, command: 'CONN' },
  { code: 'EAUTH', command: 'API' },
  { code: 'ETLS', response: '502 what?', responseCode: 502, command: 'STARTTLS' },
  { code: 'ETLS', originalCode: 'DEPTH_ZERO_SELF_SIGNED_CERT', command: 'STARTTLS' },
  { code: 'ESOCKET', originalCode: 'ERR_TLS_CERT_ALTNAME_INVALID', command: 'CONN' },
  { code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED', command: 'CONN' },
  { code: 'ECONFIG' },
])('%o is a fault of our own configuration', (given) => {
  expect(outcomeOfError(errorOf(given))).toMatchObject({ end: 'misconfigured' })
})

test('TLS that breaks with its connection is a fault of the network', () => {
  const error = new Error('Error initiating TLS - read ECONNRESET')
  expect(outcomeOfError(Object.assign(error, { code: 'ETLS', command: 'STARTTLS' }))).toMatchObject({
    end: 'unreplied',
    permanent: false,
  })
})

test.each([
  [{ code: 'ESOCKET', originalCode: 'ECONNREFUSED' }, 'connection_refused', false],
  [{ code: 'ECONNECTION' }, 'connection_reset', false],
  [{ code: 'ETLS', originalCode: 'ECONNRESET' }, 'connection_reset', false],
  [{ code: 'ETIMEDOUT', originalCode: 'GREETING_TIMEOUT' }, 'timeout', false],
  [{ code: 'EABORT' }, 'timeout', false],
  [{ code: 'EDNS', originalCode: 'ENOTFOUND' }, 'dns', false],
  [{ code: 'EPROTOCOL' }, 'invalid_response', false],
  [{ code: 'EMESSAGE' }, 'invalid_response', true],
  [{ code: 'EENVELOPE' }, 'invalid_response', true],
] as [Given, string, boolean][])('%o without a reply is %s, permanent: %s', (given, error, permanent) => {
  expect(outcomeOfError(errorOf(given))).toMatchObject({ end: 'unreplied', error, permanent })
})
