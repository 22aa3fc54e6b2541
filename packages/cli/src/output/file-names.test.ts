import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { fileNameOf } from './file-names.ts'

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
