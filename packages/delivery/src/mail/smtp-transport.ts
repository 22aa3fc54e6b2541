/**
 * Sends mails through the operator's SMTP server, over a few connections that stay open. Only the operator's settings
 * name the server, so the address guard does not check it. Passwords are never logged: nodemailer's own log is off, and
 * results contain only replies of the server.
 */
import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import type { SendMailOptions, SMTPPoolOptions } from 'nodemailer'
import { raceAddresses } from '../connections/address-race.ts'
import { createResolver, NameError, type Resolver } from '../outbound/resolver.ts'
import type { MailSettings } from './mail-settings.ts'
import { outcomeOfError, outcomeOfReply, type SmtpError, type SmtpOutcome } from './smtp-outcome.ts'

/**
 * Mails that are sent over one connection to the SMTP server. Past it: another connection is opened. The mail after the
 * last one waits for a new connection: greeting, TLS and login. So this happens to far fewer than one mail in a
 * hundred, and p99 does not show it.
 */
const MAILS_PER_CONNECTION_MAX = 1_000
/** Connections to the SMTP server; FANTAIL_SMTP_CONNECTIONS changes it. Past it: mails wait for one. */
const SMTP_CONNECTIONS_DEFAULT = 5
/**
 * Connections that break before a mail is sent over them, because the server has dropped them while they were idle.
 * Past it: the attempt fails and is retried.
 */
const DROPPED_CONNECTIONS_MAX = 1
/** The server ends the connection, for example because it accepts no more mails over it (RFC 5321 §3.8). */
const CLOSING_REPLY = 421
const CONNECTION_MS = 10_000
const GREETING_MS = 10_000
const SOCKET_MS = 30_000

export interface SmtpTransport {
  /** The name of the login for `misconfigured` results: server and user, without the password. */
  readonly credential: string
  /** Sends the mail. It never rejects. If `signal` is aborted, the server may still have accepted the mail. */
  send(mail: SendMailOptions, signal: AbortSignal): Promise<SmtpOutcome>
  close(): void
}

export function createSmtpTransport(smtpUrl: string, settings: MailSettings): SmtpTransport {
  const server = new URL(smtpUrl)
  const dials = createSmtpDials(addressOf(server), CONNECTION_MS)
  const opening = openTransporter(server, settings, dials.open)
  const sendOnce = async (mail: SendMailOptions, signal: AbortSignal) =>
    (await opening).sendMail({ ...mail, signal })
  return {
    credential: credentialOf(server),
    send: (mail, signal) =>
      sendOnce(mail, signal)
        .catch((error: SmtpError) => {
          if (!isClosedBefore(error)) throw error
          return sendOnce(mail, signal)
        })
        .then(
          ({ response }) => outcomeOfReply(response ?? ''),
          (error: SmtpError) => outcomeOfError(error),
        ),
    close: () => {
      dials.close()
      void opening.then((transporter) => transporter.close({ force: true }))
    },
  }
}

/**
 * Loads nodemailer, which takes a sixth of the CPU of a start. A process without an SMTP server does not need it. With
 * one, it is loaded while the process starts, so no mail waits for it.
 */
async function openTransporter(server: URL, settings: MailSettings, open: OpenSmtpSocket) {
  const { createTransport } = await import('nodemailer')
  const getSocket: SMTPPoolOptions['getSocket'] = (_options, callback) =>
    open((error, connection) => callback(error, connection ? { connection } : false))
  const transporter = createTransport({ ...poolOptions(server, settings), getSocket, pool: true })
  // If an idle connection breaks, no mail is concerned.
  transporter.on('error', () => undefined)
  return transporter
}

/**
 * Whether the server has ended the connection before it accepted anything of the mail. Another connection may accept
 * it. nodemailer tries one by itself, but with pipelining that try fails with the first connection's reply.
 */
function isClosedBefore({ responseCode, command }: SmtpError): boolean {
  return responseCode === CLOSING_REPLY && command === 'MAIL FROM'
}

function poolOptions(server: URL, settings: MailSettings): SMTPPoolOptions {
  const { username, password } = server
  return {
    ...addressOf(server),
    secure: isSmtps(server),
    requireTLS: settings.smtpTls === 'required',
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    maxConnections: settings.smtpConnections ?? SMTP_CONNECTIONS_DEFAULT,
    maxMessages: MAILS_PER_CONNECTION_MAX,
    maxRequeues: DROPPED_CONNECTIONS_MAX,
    greetingTimeout: GREETING_MS,
    socketTimeout: SOCKET_MS,
    ...dkimOf(settings),
  }
}

function addressOf(server: URL): { host: string; port: number } {
  return { host: server.hostname.replace(/^\[(.*)\]$/, '$1'), port: portOf(server) }
}

function portOf(server: URL): number {
  if (server.port !== '') return Number(server.port)
  return isSmtps(server) ? 465 : 587
}

function isSmtps({ protocol }: URL): boolean {
  return protocol === 'smtps:'
}

function credentialOf(server: URL): string {
  const { hostname, username } = server
  const login = username === '' ? '' : `${decodeURIComponent(username)}@`
  return `smtp:${login}${hostname}:${portOf(server)}`
}

/** The signature must cover both headers of unsubscribing by one click (RFC 8058 §4). */
const SIGNED_HEADERS = [
  'From',
  'To',
  'Subject',
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':')

function dkimOf({ emailDkimDomain, emailDkimSelector, emailDkimKey }: MailSettings) {
  if (emailDkimDomain === undefined || emailDkimSelector === undefined || emailDkimKey === undefined)
    return {}
  const dkim = {
    domainName: emailDkimDomain,
    keySelector: emailDkimSelector,
    privateKey: emailDkimKey,
    headerFieldNames: SIGNED_HEADERS,
  }
  return { dkim }
}

type SocketCallback = (error: Error | null, socket: Socket | null) => void
type OpenSmtpSocket = (callback: SocketCallback) => void

/**
 * Opens the connections of the SMTP transport, over all addresses of the server side by side. nodemailer itself would
 * try one address for ten seconds before the next one. Each dial ends within `timeoutMs`, or with `close`.
 */

function createSmtpDials(
  { host, port }: { host: string; port: number },
  timeoutMs: number,
): { open: OpenSmtpSocket; close(): void } {
  const resolver = createResolver()
  const running = new Set<() => void>()
  return {
    open: (callback) => {
      let cancelRace = (): void => undefined
      const end: SocketCallback = (error, socket) => {
        if (!running.delete(cancel)) return socket?.destroy()
        clearTimeout(timer)
        cancelRace()
        callback(error && smtpErrorOf(error), socket)
      }
      const cancel = () => end(TIMED_OUT, null)
      const timer = setTimeout(cancel, timeoutMs)
      running.add(cancel)
      addressesOf(host, resolver).then(
        (addresses) => {
          if (running.has(cancel)) cancelRace = raceAddresses({ addresses, port }, end)
        },
        (error: Error) => end(error, null),
      )
    },
    close: () => {
      for (const cancel of running) cancel()
    },
  }
}

/** A name without a dot may need the search domains of resolv.conf, which only the system's own look-up applies. */
async function addressesOf(host: string, resolver: Resolver): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  try {
    return await resolver.resolve(host)
  } catch (error) {
    if (!(error instanceof NameError) || error.code !== 'ENOTFOUND') throw error
    const found = await lookup(host, { all: true })
    return found.map(({ address }) => address)
  }
}

const TIMED_OUT = Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })

/** The error with nodemailer's code, as its own dials would have made it. */
function smtpErrorOf(error: Error): Error {
  const { code, syscall } = error as NodeJS.ErrnoException
  const isName = error instanceof NameError || syscall === 'getaddrinfo'
  return Object.assign(new Error(error.message), {
    code: isName ? 'EDNS' : 'ECONNECTION',
    originalCode: code,
  })
}
