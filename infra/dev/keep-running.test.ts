import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type DevTask, isAlive, isGone, newFolder, removeFolder, run, script } from './dev-task.fixture.ts'

/** Notes each start and each clean end with its pid and time. */
const SERVICE = `
import { appendFileSync } from 'node:fs'
const note = (word) => appendFileSync('notes', word + ' ' + process.pid + ' ' + Date.now() + '\\n')
process.on('SIGTERM', () => {
  note('stopped')
  process.exit(0)
})
setInterval(() => {}, 1000)
note('started')
`

interface Note {
  word: string
  pid: number
  at: number
}

let folder: string
let task: DevTask | undefined

beforeEach(async () => {
  folder = await newFolder()
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'src', 'main.ts'), SERVICE)
})

afterEach(async () => {
  task?.child.kill('SIGKILL')
  for (const { pid } of notes('started')) await isGone(pid)
  await removeFolder(folder)
})

function notes(word: string): Note[] {
  const file = join(folder, 'notes')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([what = '', pid, at]) => ({ word: what, pid: Number(pid), at: Number(at) }))
    .filter((note) => note.word === word)
}

/** Resolves with the n-th start. */
async function started(n: number): Promise<Note> {
  return waitFor(() => notes('started')[n - 1], { what: `start ${n}` })
}

const keepRunning = () => run(process.execPath, [script('keep-running.mjs'), 'src/main.ts'], folder)

describe('the dev task of a service', () => {
  it('starts it again half a second after it was killed', async () => {
    task = keepRunning()
    const { pid } = await started(1)
    const killedAt = Date.now()
    process.kill(pid, 'SIGKILL')

    expect((await started(2)).at - killedAt).toBeGreaterThanOrEqual(500)
    expect(task.output()).toContain('ended (SIGKILL), starting it again')
  })

  it('stops it cleanly and ends', async () => {
    task = keepRunning()
    const { pid } = await started(1)
    task.child.kill('SIGINT')

    expect(await task.ended).toBe(0)
    expect(notes('stopped').map((note) => note.pid)).toEqual([pid])
  })

  it('starts it again when a source was edited', async () => {
    task = keepRunning()
    const { pid } = await started(1)
    await writeFile(join(folder, 'src', 'main.ts'), `${SERVICE}// edited`)
    await started(2)

    expect(notes('stopped').map((note) => note.pid)).toEqual([pid])
  })

  it('lets it run when a source was only given another mode', async () => {
    await writeFile(join(folder, 'src', 'other.ts'), '')
    task = keepRunning()
    await started(1)
    // The last of several changes is named. If the mode counted as an edit, it would be named here.
    await writeFile(join(folder, 'src', 'other.ts'), '// edited')
    await chmod(join(folder, 'src', 'main.ts'), 0o600)
    await started(2)

    expect(task.output()).toContain('other.ts was edited')
    expect(task.output()).not.toContain('main.ts was edited')
  })

  it('leaves nothing behind when it is killed itself', async () => {
    task = keepRunning()
    const { pid } = await started(1)
    task.child.kill('SIGKILL')
    await isGone(pid)

    expect(notes('stopped').map((note) => note.pid)).toEqual([pid])
  })

  it('ends when what started it is killed', async () => {
    const words = `"${process.execPath}" "${script('keep-running.mjs')}" src/main.ts & echo $! > task; wait`
    task = run('sh', ['-c', words], folder)
    const { pid } = await started(1)
    const taskPid = Number(readFileSync(join(folder, 'task'), 'utf8'))
    expect(isAlive(taskPid)).toBe(true)
    task.child.kill('SIGKILL')
    await isGone(pid)
    await isGone(taskPid)

    expect(notes('stopped').map((note) => note.pid)).toEqual([pid])
  })
})
