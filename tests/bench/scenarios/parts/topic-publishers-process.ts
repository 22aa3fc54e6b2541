/** Publishers for many topics. Each keep-alive connection makes one request at a time, to the next topic. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HttpFraming, statusOf } from '../../processes/http-framing.ts'
import { answer } from '../../processes/ipc.ts'
import { numberedText } from '../../processes/sequence.ts'

export interface TopicLoad {
  port: number
  connections: number
  bodyBytes: number
  messages: number
  /** Topics are named `<prefix><number>`. `topics` of them are used in turn, from number `from`. */
  prefix: string
  from: number
  topics: number
}

async function load(options: TopicLoad): Promise<{ accepted: number }> {
  const body = JSON.stringify({ message: numberedText(0, options.bodyBytes) })
  let sent = 0
  let accepted = 0
  const publish = async (): Promise<void> => {
    const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    await new Promise<void>((resolve, reject) => {
      const next = () => {
        if (sent >= options.messages) return resolve()
        write(socket, options, sent++, body)
      }
      const framing = new HttpFraming((head) => {
        if (statusOf(head) < 300) accepted++
        next()
      })
      socket.on('data', (chunk) => framing.push(chunk))
      socket.on('error', reject)
      socket.on('end', () => reject(new Error('the API closed a connection')))
      next()
    })
    socket.destroy()
  }
  await Promise.all(Array.from({ length: options.connections }, publish))
  return { accepted }
}

function write(
  socket: Socket,
  { port, prefix, from, topics }: TopicLoad,
  sequence: number,
  body: string,
): void {
  const head = [
    `POST /v1/topics/${prefix}${from + (sequence % topics)}/messages HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
}

answer({ load })
