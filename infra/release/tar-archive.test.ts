import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { entriesOf, tarChunks, writeTarball } from './tar-archive.mjs'

const MTIME = 1_700_000_000
const LONG = `${'folder-'.repeat(10)}/${'name-'.repeat(10)}.txt`

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fantail-tar-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('tar reads names, modes, owners, times, links and contents', ({ expect }) => {
  const folder = emptyFolder()
  const archive = join(folder, 'a.tar')
  const entries = [
    { name: 'b/run', content: '#!/bin/sh\n', mode: 0o755 },
    { name: 'b' },
    { name: `b/${LONG}`, content: 'x'.repeat(513) },
    { name: 'b/link', link: 'run' },
    { name: 'a', content: '' },
  ]
  writeFileSync(archive, Buffer.concat([...tarChunks(entries, MTIME)]))
  const listed = execFileSync('tar', ['--utc', '-tvf', archive], { encoding: 'utf8' })
  expect(
    listed
      .trim()
      .split('\n')
      .map((line) => line.replace(/ +/g, ' ')),
  ).toEqual([
    '-rw-r--r-- root/root 0 2023-11-14 22:13 a',
    'drwxr-xr-x root/root 0 2023-11-14 22:13 b/',
    `-rw-r--r-- root/root 513 2023-11-14 22:13 b/${LONG}`,
    'lrwxrwxrwx root/root 0 2023-11-14 22:13 b/link -> run',
    '-rwxr-xr-x root/root 10 2023-11-14 22:13 b/run',
  ])
  execFileSync('tar', ['-xf', archive, '-C', folder])
  expect(readFileSync(join(folder, 'b', LONG), 'utf8')).toBe('x'.repeat(513))
})

test('two tarballs of the same content are the same bytes, whenever and by whom the files were made', async ({
  expect,
}) => {
  const folder = emptyFolder()
  const makeTarball = async (name: string, mode: number, seconds: number) => {
    const tree = join(folder, name)
    mkdirSync(join(tree, 'inside'), { recursive: true })
    writeFileSync(join(tree, 'inside/text'), 'hello', { mode })
    utimesSync(join(tree, 'inside/text'), seconds, seconds)
    await writeTarball(join(folder, `${name}.tar.gz`), entriesOf(tree, 'tree'), MTIME)
    return readFileSync(join(folder, `${name}.tar.gz`)).toString('base64')
  }
  const first = await makeTarball('first', 0o600, 1)
  expect(await makeTarball('second', 0o664, 1_000)).toBe(first)
})

test('a name that the format cannot hold is refused', ({ expect }) => {
  const name = 'x'.repeat(101)
  expect(() => [...tarChunks([{ name, content: '' }], MTIME)]).toThrow(
    `${name} is too long for a tar archive`,
  )
})
