import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  childrenOf,
  type DevTask,
  isAlive,
  isGone,
  newFolder,
  removeFolder,
  run,
  script,
} from './dev-task.fixture.ts'

/** A service that records each start and each clean end, with pid and time. */
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
let other: string
let task: DevTask | undefined

beforeEach(async () => {
  folder = await newService()
  other = await newService()
})

async function newService(): Promise<string> {
  const made = await newFolder()
  await mkdir(join(made, 'src'))
  await writeFile(join(made, 'src', 'main.ts'), SERVICE)
  return made
}

afterEach(async () => {
  task?.child.kill('SIGTERM')
  await task?.ended
  for (const { pid } of [...notes('started'), ...notes('started', other)]) await isGone(pid)
  await removeFolder(folder)
  await removeFolder(other)
})

function notes(word: string, of = folder): Note[] {
  const file = join(of, 'notes')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([what = '', pid, at]) => ({ word: what, pid: Number(pid), at: Number(at) }))
    .filter((note) => note.word === word)
}

/** Resolves with the n-th start. */
async function started(n: number, of = folder): Promise<Note> {
  return waitFor(() => notes('started', of)[n - 1], { what: `start ${n}` })
}

/**
 * No Redis is at this address. The pid of the stack prevents the announcement, which would wait for Fantail's services.
 */
const ENV = { REDIS_URL: 'redis://127.0.0.1:1', FANTAIL_STACK_PID: '1' }
const keepRunning = (...folders: string[]) =>
  run(process.execPath, [script('dev-stack.mjs'), ...(folders.length > 0 ? folders : [folder])], folder, ENV)

/**
 * Returns the path of a module. A process that loads it writes down the first pid that it spawns, and is then killed.
 */
async function diesAfterSpawn(into: string): Promise<string> {
  const path = join(into, 'dies.mjs')
  const text = `
import child from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const { spawn } = child
child.spawn = (...words) => {
  writeFileSync('spawned', String(spawn(...words).pid))
  process.kill(process.pid, 'SIGKILL')
}
syncBuiltinESMExports()
`
  await writeFile(path, text)
  return path
}

describe('a service of the local stack', () => {
  it('is started again half a second after it was killed', async () => {
    task = keepRunning()
    const { pid } = await started(1)
    const killedAt = Date.now()
    process.kill(pid, 'SIGKILL')

    expect((await started(2)).at - killedAt).toBeGreaterThanOrEqual(500)
    expect(task.output()).toContain('ended (SIGKILL), starting it again')
  })

  it('is stopped cleanly when the stack ends', async () => {
    task = keepRunning()
    const { pid } = await started(1)
    task.child.kill('SIGINT')

    expect(await task.ended).toBe(0)
    expect(notes('stopped').map((note) => note.pid)).toEqual([pid])
  })

  it('is started again when a source was edited, and no other service is', async () => {
    task = keepRunning(folder, other)
    const { pid } = await started(1)
    await started(1, other)
    await writeFile(join(folder, 'src', 'main.ts'), `${SERVICE}// edited`)
    await started(2)

    expect(notes('stopped').map((note) => note.pid)).toEqual([pid])
    expect(notes('stopped', other)).toEqual([])
  })

  it('runs on when a source was only given another mode', async () => {
    await writeFile(join(folder, 'src', 'other.ts'), '')
    task = keepRunning()
    await started(1)
    // If there are several changes, the last one is named. A change of the file mode would be the last one here, if it
    // counted.
    await writeFile(join(folder, 'src', 'other.ts'), '// edited')
    await chmod(join(folder, 'src', 'main.ts'), 0o600)
    await started(2)

    // The output may arrive later than the note of the start.
    await waitFor(() => task?.output().includes('other.ts was edited'))
    expect(task.output()).not.toContain('main.ts was edited')
  })

  it('is ended when the stack is killed, by one guard for all services', async () => {
    task = keepRunning(folder, other)
    const pids = [(await started(1)).pid, (await started(1, other)).pid]
    const guards = childrenOf(task.child.pid ?? 0).filter((pid) => !pids.includes(pid))
    task.child.kill('SIGKILL')
    for (const pid of [...pids, ...guards]) await isGone(pid)

    expect([...notes('stopped'), ...notes('stopped', other)].map((note) => note.pid)).toEqual(pids)
    expect(guards).toHaveLength(1)
  })

  it('does not begin when the stack is killed just after it has spawned it', async () => {
    const words = ['--import', await diesAfterSpawn(folder), script('dev-stack.mjs'), folder]
    task = run(process.execPath, words, folder, ENV)
    expect(await task.ended).toBe('SIGKILL')
    await isGone(Number(readFileSync(join(folder, 'spawned'), 'utf8')))

    expect(notes('started')).toEqual([])
  })

  it('is ended when what started the stack is killed', async () => {
    const words = `"${process.execPath}" "${script('dev-stack.mjs')}" "${folder}" & echo $! > task; wait`
    task = run('sh', ['-c', words], folder, ENV)
    const { pid } = await started(1)
    const taskPid = Number(readFileSync(join(folder, 'task'), 'utf8'))
    expect(isAlive(taskPid)).toBe(true)
    task.child.kill('SIGKILL')
    await isGone(pid)
    await isGone(taskPid)

    expect(notes('stopped').map((note) => note.pid)).toEqual([pid])
  })
})
