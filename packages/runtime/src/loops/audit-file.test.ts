import { chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { logLines } from '../log-lines.fixture.ts'
import { openAuditFile } from './audit-file.ts'
import { createLogger } from './logger.ts'

const folder = await mkdtemp(join(tmpdir(), 'fantail-audit-'))
afterAll(() => rm(folder, { recursive: true }))

function opened(path: string) {
  const { destination, lines } = logLines()
  // A log that shows warnings only has no audit lines, and the file has them all the same.
  const log = createLogger({ service: 'api', level: 'info', destination })
  return { file: openAuditFile({ service: 'api', path, log }), lines }
}

const linesOf = async (path: string) =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).action as string)

test('lines go to the file and not to the log, also after the file was rotated', async () => {
  const path = join(folder, 'audit.log')
  const { file, lines } = opened(path)
  file?.info({ action: 'first' }, 'audit')
  await rename(path, `${path}.1`)
  file?.info({ action: 'second' }, 'audit')
  expect(await linesOf(`${path}.1`)).toEqual(['first'])
  expect(await linesOf(path)).toEqual(['second'])
  expect((await stat(path)).mode & 0o007).toBe(0)
  expect(lines()).toEqual([])
})

test('a line that the file refuses goes to the log, and one line each says when that begins and ends', async () => {
  const path = join(folder, 'refusing', 'audit.log')
  await mkdir(join(folder, 'refusing'))
  const { file, lines } = opened(path)
  await rm(join(folder, 'refusing'), { recursive: true })
  file?.info({ action: 'first' }, 'audit')
  file?.info({ action: 'second' }, 'audit')
  await mkdir(join(folder, 'refusing'))
  file?.info({ action: 'third' }, 'audit')
  expect(lines().map(({ msg, action }) => action ?? msg)).toEqual([
    'audit_file.down',
    'first',
    'second',
    'audit_file.up',
  ])
  expect(await linesOf(path)).toEqual(['third'])
})

test('a line follows on a line of its own after one that a full disk has cut', async () => {
  const path = join(folder, 'cut.log')
  await writeFile(path, '{"action":"be')
  const { file } = opened(path)
  file?.info({ action: 'first' }, 'audit')
  await rename(path, `${path}.1`)
  await mkdir(path)
  file?.info({ action: 'refused' }, 'audit')
  await rm(path, { recursive: true })
  await writeFile(path, '{"action":"re')
  file?.info({ action: 'second' }, 'audit')
  const cutAndWhole = async (of: string) => (await readFile(of, 'utf8')).trimEnd().split('\n')
  expect(await cutAndWhole(`${path}.1`)).toEqual(['{"action":"be', expect.stringContaining('"first"')])
  expect(await cutAndWhole(path)).toEqual(['{"action":"re', expect.stringContaining('"second"')])
})

test.skipIf(process.getuid?.() !== 0)(
  'a file that root makes belongs to the owner of its folder, so that the services can write it',
  async () => {
    const owned = join(folder, 'owned')
    await mkdir(owned)
    await chown(owned, 12_345, 12_346)
    const path = join(owned, 'audit.log')
    const { file } = opened(path)
    const ownerOf = async () => {
      const { uid, gid, mode } = await stat(path)
      return [uid, gid, mode & 0o777]
    }
    expect(await ownerOf()).toEqual([12_345, 12_346, 0o640])
    await rename(path, `${path}.1`)
    file?.info({ action: 'first' }, 'audit')
    expect(await ownerOf()).toEqual([12_345, 12_346, 0o640])
    expect(await linesOf(path)).toEqual(['first'])
  },
)

test('a file that cannot be written ends the start with the name of the setting', () => {
  expect(() => opened(join(folder, 'missing', 'audit.log'))).toThrow(
    /^FANTAIL_AUDIT_FILE cannot be written: ENOENT.*missing/,
  )
})
