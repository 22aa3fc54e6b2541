/** Subjects and texts of mails, in the form of SNS: one paragraph for each part. Lines end in LF. */

export interface MailText {
  subject: string
  text: string
}

const paragraphs = (...parts: string[]) => `${parts.join('\n\n')}\n`

const NO_REPLY = 'Please do not reply directly to this email.'

export function confirmationMail(topicArn: string, link: string): MailText {
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

export function unsubscribedMail(topicArn: string, link: string): MailText {
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

export function notificationSubject(subject: string | undefined): string {
  return subject === undefined || subject === '' ? SUBJECT_DEFAULT : subject
}

export function withFooter(text: string, link: string): string {
  const footer = paragraphs(
    `--\nIf you wish to stop receiving notifications from this topic, please click or visit the link below to unsubscribe:\n${link}`,
    NO_REPLY,
  )
  return `${text}\n\n${footer}`
}
