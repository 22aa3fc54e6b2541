import type { AddressInfo } from 'node:net'
import { createTransport } from 'nodemailer'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMailSink, Mails } from './mail-sink.ts'

let sink: ReturnType<typeof createMailSink>
let mails: Mails
let printed: string[]

beforeEach(async () => {
  mails = new Mails()
  printed = []
  sink = createMailSink({ mails, print: (line) => void printed.push(line) })
  await new Promise<void>((resolve) => void sink.listen(0, '127.0.0.1', resolve))
})
afterEach(() => new Promise<void>((resolve) => sink.close(resolve)))

const send = (to: string) => {
  const { port } = sink.server.address() as AddressInfo
  const text = 'Hello.\nOpen https://fantail.example.com/a.html?b=1&c=2\n'
  const mail = { from: 'News <news@example.com>', to, subject: 'Grüße', text }
  return createTransport({ host: '127.0.0.1', port }).sendMail(mail)
}

it('shows mails to any address, newest first, with their links', async () => {
  await send('ada@example.com')
  await send('eve@example.com')
  expect(mails.list()).toMatchObject([
    { to: 'eve@example.com' },
    {
      to: 'ada@example.com',
      from: '"News" <news@example.com>',
      subject: 'Grüße',
      text: expect.stringContaining('Hello.'),
      links: ['https://fantail.example.com/a.html?b=1&c=2'],
    },
  ])
  expect(printed).toEqual([
    'received a mail to ada@example.com: Grüße',
    'received a mail to eve@example.com: Grüße',
  ])
})

it('refuses an address that asks for it', async () => {
  await expect(send('status-550@example.com')).rejects.toMatchObject({ responseCode: 550 })
  expect(mails.list()).toEqual([])
  expect(printed).toEqual(['refused a mail to status-550@example.com → 550'])
})
