/** A webhook receiver for runs of millions of messages. For each message it only stores how often it came. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CountingReceiver {
  url: string
  /** How often the message with this number (its whole text) has come. */
  times(number: number): number
  /** Different messages that have come. */
  firsts(): number
  close(): Promise<void>
}

export async function startCountingReceiver(numbers: number): Promise<CountingReceiver> {
  const times = new Uint8Array(numbers)
  let firsts = 0
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('latin1')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const number = Number.parseInt(text, 10)
      if (times[number] === 0) firsts++
      times[number] = Math.min(255, (times[number] ?? 0) + 1)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    times: (number) => times[number] ?? 0,
    firsts: () => firsts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
