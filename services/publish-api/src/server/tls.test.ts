import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '@fantail/test-kit'
import { Hono } from 'hono'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listen, readTls } from './server.ts'

const authority = createAuthority()
const { key, cert } = authority.issue(['localhost'])

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tls-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function filesOf(texts: { key: string; cert: string }) {
  const files = { tlsKeyFile: join(folder, 'key.pem'), tlsCertFile: join(folder, 'cert.pem') }
  await Promise.all([writeFile(files.tlsKeyFile, texts.key), writeFile(files.tlsCertFile, texts.cert)])
  return files
}

test('without files there is none', async () => {
  expect(await readTls({ tlsCertFile: undefined, tlsKeyFile: undefined })).toBeUndefined()
})

test('a key of another certificate, and what is no PEM, is refused by the names of the settings', async () => {
  const other = authority.issue(['localhost'])
  for (const wrong of [
    { key: other.key, cert },
    { key: 'hello', cert },
    { key, cert: 'hello' },
  ])
    await expect(readTls(await filesOf(wrong))).rejects.toThrow(
      'FANTAIL_TLS_CERT_FILE and FANTAIL_TLS_KEY_FILE cannot be used: ',
    )
})

test('the whole API is served over https, and knows that its origin is', async () => {
  const app = new Hono().get('/where', (context) => context.text(context.req.url))
  const tls = await readTls(await filesOf({ key, cert }))
  const server = await listen(app as never, { host: 'localhost', port: 0, tls })
  try {
    const url = `https://localhost:${server.port}/where`
    const answer = await new Promise<string>((resolve, reject) => {
      get(url, { ca: authority.cert, agent: false }, (response) => {
        response.setEncoding('utf8').once('data', resolve)
      }).on('error', reject)
    })
    expect(answer).toBe(url)
    await expect(fetch(`http://localhost:${server.port}/where`)).rejects.toThrow('fetch failed')
  } finally {
    await server.close()
  }
})
