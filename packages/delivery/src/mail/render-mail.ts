/**
 * Renders the mail of one message for one address. Publishers and owners of topics choose header texts. Control
 * characters in them are replaced, because CR and LF would begin another header. Texts that are not ASCII are encoded
 * by RFC 2047.
 */
import type { KeyObject } from 'node:crypto'
import { nameOfArn } from '@fantail/contracts'
import type { MailSender } from '@fantail/policy'
import type { SendMailOptions } from 'nodemailer'
import { type Envelope, linkOf, renderBody, textFor } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { unsubscribeToken } from '../envelope/unsubscribe-link.ts'
import { hostOfSender } from './mail-settings.ts'

interface MailParts {
  envelope: Envelope
  target: EndpointTarget
  sender: MailSender
  /**
   * The id of the delivery. The Message-ID is made from it and is the same in every attempt, because receivers drop a
   * mail whose Message-ID they have seen.
   */
  deliveryId: string
  /** Key that signs the link to unsubscribe. */
  linkKey: KeyObject
  /** True: a notification contains SNS’s JSON envelope instead of the text. */
  isJson: boolean
}

export function renderMail(parts: MailParts): SendMailOptions {
  const { envelope, target, sender, deliveryId } = parts
  const { message, kind } = envelope
  const { subject, text } = mailText(parts)
  return {
    from: { name: headerText(target.displayName) || sender.name, address: sender.address },
    // The recipient is an object, because a text would be parsed as a list of addresses.
    to: { name: '', address: target.url },
    envelope: { from: sender.address, to: target.url },
    subject: headerText(subject),
    text,
    // This encoding keeps line ends and control characters unchanged.
    textEncoding: 'quoted-printable',
    messageId: `<${deliveryId}@${hostOfSender(sender)}>`,
    date: new Date(message.publishedAt),
    headers: {
      // Prevents automatic answers (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      'X-Fantail-Topic': message.topicArn,
      'X-Fantail-Message-Id': message.messageId,
      ...(kind === 'Notification' && listHeaders(parts)),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** RFC 2919, RFC 2369. Unsubscribing by one click needs https (RFC 8058 §3.1). */
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

/**
 * UnsubscribeURL leads to a page with a button, because programs that check mails open every link. The envelope is not
 * signed.
 */
function jsonText(parts: MailParts): string {
  const { envelope, target } = parts
  const wireLink = linkOf(envelope, target)
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

/**
 * The links in mails. The link to confirm contains the subscription's token, which ConfirmSubscription also accepts.
 * The link to unsubscribe contains a token that is hard to forge, as RFC 8058 §3.1 requires. The links contain no
 * address, because URLs appear in logs.
 */
const CONFIRM_PATH = '/confirmation.html'
const UNSUBSCRIBE_PATH = '/unsubscribe.html'

interface Confirming {
  topicArn: string
  token: string
  address: string
}

/** `publicUrl`: without a slash at its end. */
function confirmLink(publicUrl: string, { topicArn, token, address }: Confirming): string {
  const query = new URLSearchParams({ TopicArn: topicArn, Token: token, Endpoint: address })
  return `${publicUrl}${CONFIRM_PATH}?${query}`
}

export function unsubscribeLink(publicUrl: string, subscriptionArn: string, key: KeyObject): string {
  const query = new URLSearchParams({
    SubscriptionArn: subscriptionArn,
    Token: unsubscribeToken(subscriptionArn, key),
  })
  return `${publicUrl}${UNSUBSCRIBE_PATH}?${query}`
}

interface MailText {
  subject: string
  text: string
}

const paragraphs = (...parts: string[]) => `${parts.join('\n\n')}\n`

const NO_REPLY = 'Please do not reply directly to this email.'

function confirmationMail(topicArn: string, link: string): MailText {
  return {
    subject: 'AWS Notification - Subscription Confirmation',
    text: paragraphs(
      'You have chosen to subscribe to the topic:',
      topicArn,
      'To confirm this subscription, click or visit the link below (If this was in error no action is necessary):',
      `Confirm subscription: ${link}`,
      NO_REPLY,
    ),
  }
}

function unsubscribedMail(topicArn: string, link: string): MailText {
  return {
    subject: 'AWS Notification - Unsubscribe Confirmation',
    text: paragraphs(
      'Your subscription to the topic below has been deactivated:',
      topicArn,
      'If this was in error or you wish to resubscribe, click or visit the link below:',
      `Resubscribe: ${link}`,
      NO_REPLY,
    ),
  }
}

const SUBJECT_DEFAULT = 'AWS Notification Message'

function notificationSubject(subject: string | undefined): string {
  return subject === undefined || subject === '' ? SUBJECT_DEFAULT : subject
}

function withFooter(text: string, link: string): string {
  const footer = paragraphs(
    `--\nIf you wish to stop receiving notifications from this topic, please click or visit the link below to unsubscribe:\n${link}`,
    NO_REPLY,
  )
  return `${text}\n\n${footer}`
}
