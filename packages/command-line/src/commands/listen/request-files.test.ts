import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { forwardRequest } from './forwarded-request.ts'
import { fileNameOf, recordRequest } from './request-files.ts'

const FORM = {
  raw: false,
  contentType: null,
  userAgent: 'test',
  subscriptionArn: undefined,
  secret: undefined,
  headers: {},
}

test('no text of a message adds a line to the head of its request', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'requests-'))
  const messageId = 'x\r\n\r\nforged: 1'
  const body = JSON.stringify({ MessageId: messageId, TopicArn: 'arn\nforged: 1\u0085é', Message: 'x' })
  const request = forwardRequest(body, FORM, 0)
  const line = { at: '1', messageId, topicArn: '', attempt: 1, url: 'http://localhost/in' }
  const answer = { headers: [], text: '' }
  try {
    await recordRequest(folder, {
      line: { ...line, statusCode: 200, error: null, durationMs: 1 },
      request,
      answer,
    })
    const [name = ''] = await readdir(folder)
    const text = await readFile(join(folder, name), 'utf8')
    expect(text.slice(0, text.indexOf('\r\n\r\n'))).not.toMatch(/^forged/m)
    expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true)
    expect(() => new Headers(request.headers)).not.toThrow()
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a file lies in its folder, whatever its name is made of', () => {
  expect(fileNameOf(['2026-01-01T00:00:00Z', 'm1', 2], '.http')).toBe('2026-01-01T00-00-00Z-m1-2.http')
  for (const odd of [
    'x/../../y',
    '..',
    '/etc/passwd',
    'a\\..\\b',
    '.hidden',
    'a\u0000b',
    '\u202e',
    'x'.repeat(9_000),
  ]) {
    for (const parts of [[odd], ['a', odd, 1]]) {
      const name = fileNameOf(parts, '.http')
      expect([odd, basename(join('folder', name)), name.length <= 205]).toEqual([odd, name, true])
      expect(name).toMatch(/^[\w-][\w.-]*$/)
    }
  }
})
