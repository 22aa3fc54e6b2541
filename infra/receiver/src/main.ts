/** The receiver of the local stack. */
import { createOwnHosts, readReceiverSettings, SettingsError } from '@fantail/config'
import { createReceiver } from './local-receiver.ts'

try {
  const settings = readReceiverSettings(process.env)
  const { host, receiverPort } = settings
  const server = createReceiver({ print: (line) => console.log(line), ownHosts: createOwnHosts(settings) })
  server.once('error', (error) => {
    console.error(`the receiver cannot listen: ${error.message}`)
    process.exit(1)
  })
  server.listen(receiverPort, host)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
} catch (error) {
  if (!(error instanceof SettingsError)) throw error
  console.error(error.message)
  process.exit(1)
}
