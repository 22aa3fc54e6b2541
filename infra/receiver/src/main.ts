/** The receiver of the local stack. */
import { createOwnHosts, readReceiverSettings, SettingsError } from '@fantail/config'
import { createReceiver } from './local-receiver.ts'
import { createMailSink, Mails } from './mail-sink.ts'

try {
  const settings = readReceiverSettings(process.env)
  const { host, receiverPort, receiverSmtpPort } = settings
  const print = (line: string) => console.log(line)
  const mails = new Mails()
  const server = createReceiver({ print, mails, ownHosts: createOwnHosts(settings) })
  const sink = createMailSink({ print, mails })
  const stop = ({ message }: Error) => {
    console.error(`the receiver cannot listen: ${message}`)
    process.exit(1)
  }
  server.once('error', stop)
  sink.server.once('error', stop)
  // A client that closes its connection early must not end this process.
  sink.on('error', () => undefined)
  sink.listen(receiverSmtpPort, host)
  server.listen(receiverPort, host)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
} catch (error) {
  if (!(error instanceof SettingsError)) throw error
  console.error(error.message)
  process.exit(1)
}
