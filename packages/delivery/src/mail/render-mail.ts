/**
 * The mail that one message becomes for one address. Header texts come from publishers and owners of topics. Control
 * characters in them are replaced, since CR and LF would begin another header. Texts that are not ASCII are encoded by
 * RFC 2047.
 */
import { nameOfArn } from '@fantail/contracts'
import type { MailSender } from '@fantail/policy'
import type { SendMailOptions } from 'nodemailer'
import { type Envelope, renderBody, textFor } from '../envelope/envelope.ts'
import type { Target } from '../envelope/target.ts'
import { confirmLink, unsubscribeLink } from './mail-links.ts'
import { hostOfSender } from './mail-settings.ts'
import {
  confirmationMail,
  type MailText,
  notificationSubject,
  unsubscribedMail,
  withFooter,
} from './mail-texts.ts'

interface MailParts {
  envelope: Envelope
  target: Target
  sender: MailSender
  /** Names the delivery: receivers drop a mail whose Message-ID they have seen, so every attempt has the same. */
  deliveryId: string
  /** Signs the link that unsubscribes. */
  linkKey: Buffer
  /** A notification holds SNS’s JSON envelope instead of the text. */
  isJson: boolean
}

export function renderMail(parts: MailParts): SendMailOptions {
  const { envelope, target, sender, deliveryId } = parts
  const { message, kind } = envelope
  const { subject, text } = mailText(parts)
  return {
    from: { name: headerText(target.displayName) || sender.name, address: sender.address },
    // As an object, since a text is parsed as a list of addresses.
    to: { name: '', address: target.url },
    envelope: { from: sender.address, to: target.url },
    subject: headerText(subject),
    text,
    // Lines and control characters come out as they went in.
    textEncoding: 'quoted-printable',
    messageId: `<${deliveryId}@${hostOfSender(sender)}>`,
    date: new Date(message.publishedAt),
    headers: {
      // Keeps automatic answers away (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      'X-Fantail-Topic': message.topicArn,
      'X-Fantail-Message-Id': message.messageId,
      ...(kind === 'Notification' && listHeaders(parts)),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** RFC 2919, RFC 2369. One click takes https (RFC 8058 §3.1). */
function listHeaders(parts: MailParts) {
  const { envelope, sender } = parts
  const link = leaveLink(parts)
  return {
    'List-Id': { prepared: true, value: `<${nameOfArn(envelope.message.topicArn)}.${hostOfSender(sender)}>` },
    'List-Unsubscribe': { prepared: true, value: `<${link}>` },
    ...(isSecure(link) && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  }
}

function isSecure(link: string): boolean {
  return URL.parse(link)?.protocol === 'https:'
}

function mailText(parts: MailParts): MailText {
  const { envelope, target } = parts
  const { message, kind, publicUrl } = envelope
  if (kind === 'Notification') return notificationMail(parts)
  const { topicArn, token = '' } = message
  const link = confirmLink(publicUrl, { topicArn, token, address: target.url })
  return kind === 'SubscriptionConfirmation'
    ? confirmationMail(topicArn, link)
    : unsubscribedMail(topicArn, link)
}

function notificationMail(parts: MailParts): MailText {
  const { envelope, target, isJson } = parts
  const subject = notificationSubject(envelope.message.subject)
  if (isJson) return { subject, text: jsonText(parts) }
  const { text } = textFor(envelope, target.protocol)
  return { subject, text: withFooter(text, leaveLink(parts)) }
}

/** UnsubscribeURL leads to the page with the button: programs that look at mails follow links. It is not signed. */
function jsonText(parts: MailParts): string {
  const { envelope, target } = parts
  const wireLink = `${envelope.publicUrl}/?Action=Unsubscribe&SubscriptionArn=${target.subscriptionArn}`
  const document = renderBody(envelope, target).toString()
  return document.replace(
    `"UnsubscribeURL" : ${JSON.stringify(wireLink)}`,
    () => `"UnsubscribeURL" : ${JSON.stringify(leaveLink(parts))}`,
  )
}

function leaveLink({ envelope, target, linkKey }: MailParts): string {
  return unsubscribeLink(envelope.publicUrl, target.subscriptionArn, linkKey)
}

function headerText(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}
