/**
 * The receiver's SMTP server: it accepts mails to any address and forwards none. An address such as
 * `status-550@example.com` is refused with that reply.
 */
import { buffer } from 'node:stream/consumers'
import { printable } from '@fantail/policy'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

interface ShownMail {
  at: string
  from: string
  to: string
  subject: string
  messageId: string
  text: string
  /** The links in the text, in their order. */
  links: string[]
}

/** @limit Mails that the receiver shows. Past it: the oldest are left out. */
const MAILS_SHOWN_MAX = 100

export class Mails {
  readonly #latest: ShownMail[] = []

  add(mail: ShownMail): void {
    this.#latest.unshift(mail)
    this.#latest.length = Math.min(this.#latest.length, MAILS_SHOWN_MAX)
  }

  /** Newest first. */
  list(): ShownMail[] {
    return this.#latest
  }
}

interface MailSinkOptions {
  mails: Mails
  /** Gets one line per mail. */
  print: (line: string) => void
}

/** The server is returned before it listens. It needs no login, because it listens on loopback only. */
export function createMailSink({ mails, print }: MailSinkOptions): SMTPServer {
  return new SMTPServer({
    logger: false,
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onRcptTo: ({ address }, _, done) => {
      const reply = /^status-([45]\d{2})@/.exec(address)?.[1]
      if (reply === undefined) return done()
      print(printable(`refused a mail to ${address} → ${reply}`))
      done(Object.assign(new Error('as its address asks'), { responseCode: Number(reply) }))
    },
    onData: (stream, { envelope }, done) => {
      const take = async () => {
        const mail = await shownMail(
          await buffer(stream),
          envelope.rcptTo.map(({ address }) => address).join(),
        )
        mails.add(mail)
        print(printable(`received a mail to ${mail.to}: ${mail.subject}`))
      }
      take().then(() => done(), done)
    },
  })
}

async function shownMail(raw: Buffer, to: string): Promise<ShownMail> {
  const { from, subject = '', messageId = '', text = '' } = await simpleParser(raw)
  return {
    at: new Date().toISOString(),
    from: from?.text ?? '',
    to,
    subject,
    messageId,
    text,
    links: text.match(/https?:\/\/[^\s"<>]+/g) ?? [],
  }
}
