import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { Output } from './output.ts'

const FOREIGN = 'a\u001b]52;c;eA\u0007\u009b2J\r\u202eb'

function outputOf({ json = false }: { json?: boolean }) {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const out = new Output({ json, quiet: false, color: true, stdout, stderr })
  return { out, written: () => `${stdout.read() ?? ''}${stderr.read() ?? ''}` }
}

test('nothing that others wrote controls the terminal, and styles stay', () => {
  const { out, written } = outputOf({})
  out.line(out.style('red', `line ${FOREIGN}`))
  out.note(FOREIGN)
  out.warn(FOREIGN)
  out.item({}, () => FOREIGN)
  out.rows([{ a: FOREIGN }], [{ title: 'A', of: (row) => row.a }])
  const text = written()
  expect(text.startsWith('\u001b[31mline a\\u001b]52;c;eA\\u0007\\u009b2J\\r\\u202eb\u001b[39m\n')).toBe(true)
  const [, ...rest] = text.split('\u001b[')
  expect(rest.map((part) => part.split('m', 1)[0])).toEqual(['31', '39', '1', '22'])
  expect(rest.join('')).not.toMatch(/[^\n\x20-\x7e]/)
})

test('JSON is printable too, and keeps its value', () => {
  const { out, written } = outputOf({ json: true })
  out.item({ body: FOREIGN }, () => '')
  const text = written()
  expect(text).not.toMatch(/[^\n\x20-\x7e]/)
  expect(JSON.parse(text)).toEqual({ body: FOREIGN })
})
