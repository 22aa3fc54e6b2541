/** An SMTP server for tests, made with npm's smtp-server. npm's mailparser reads its mails. */
import { buffer } from 'node:stream/consumers'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface TestMail {
  from: string
  to: string
  raw: Buffer
  /** Epoch ms of its end. */
  at: number
  parsed: ParsedMail
}

/**
 * A reply such as `550 5.1.1 no such user`. undefined: the mail is accepted. drop: the connection is closed without a
 * reply.
 */
type MailReply = string | 'drop' | undefined

export interface TestMailServer {
  /** `smtp:` or `smtps:`, without a login. */
  url: string
  port: number
  /** Accepted ones, in order. */
  mails: TestMail[]
  /** Mails that were received completely, whatever the reply was. */
  seen: TestMail[]
  /** How many connections there ever were. */
  connections: number
  logins: { user: string | undefined; password: string | null | undefined }[]
  /** May be replaced at any time. */
  onSender: (address: string) => MailReply
  onRecipient: (address: string) => MailReply
  onMail: (mail: TestMail) => MailReply | Promise<MailReply>
  close(): Promise<void>
}

interface MailServerOptions extends Pick<SMTPServerOptions, 'secure' | 'key' | 'cert' | 'size'> {
  /** If set, mails need exactly this login. */
  login?: { user: string; password: string }
  /** Whether STARTTLS is offered, with `key` and `cert`. Default: no. */
  startTls?: boolean
  port?: number
}

const accept = () => undefined

export async function startMailServer(options: MailServerOptions = {}): Promise<TestMailServer> {
  const { login, startTls = false, port: wanted = 0, ...tls } = options
  const state: Omit<TestMailServer, 'url' | 'port' | 'close'> = {
    mails: [],
    seen: [],
    connections: 0,
    logins: [],
    onSender: accept,
    onRecipient: accept,
    onMail: accept,
  }
  const server = new SMTPServer({
    ...tls,
    logger: false,
    authOptional: login === undefined,
    allowInsecureAuth: true,
    disabledCommands: startTls ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    onConnect: (_, done) => {
      state.connections++
      done()
    },
    onAuth: ({ username, password }, _, done) => {
      state.logins.push({ user: username, password })
      if (username === login?.user && password === login?.password) done(null, { user: username })
      else done(refusal('535 5.7.8 wrong user or password'))
    },
    onMailFrom: ({ address }, _, done) => done(refusal(state.onSender(address))),
    onRcptTo: ({ address }, _, done) => done(refusal(state.onRecipient(address))),
    onData: (stream, { envelope, id }, done) => {
      void (async () => {
        const raw = await buffer(stream)
        const { mailFrom, rcptTo } = envelope
        const mail: TestMail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address).join(),
          raw,
          at: Date.now(),
          parsed: await simpleParser(raw),
        }
        state.seen.push(mail)
        const reply = await state.onMail(mail)
        if (reply === 'drop') {
          for (const connection of server.connections) if (connection.id === id) connection._socket.destroy()
          return
        }
        if (reply === undefined) state.mails.push(mail)
        done(refusal(reply))
      })().catch(done)
    },
  })
  // A client closed its connection in the middle of a command.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => void server.listen(wanted, '127.0.0.1', resolve))
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return Object.assign(state, {
    port,
    url: `${tls.secure ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    close: async () => {
      for (const { _socket } of server.connections) _socket.destroy()
      await new Promise<void>((resolve) => server.close(resolve))
    },
  })
}

function refusal(reply: MailReply): Error | null {
  if (reply === undefined) return null
  const [, code = '', text = ''] = /^(\d{3}) (.*)$/s.exec(reply) ?? []
  return Object.assign(new Error(text), { responseCode: Number(code) })
}
