import { existsSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redisServerPath, waitFor } from '@fantail/test-kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answersPing, askRedis } from './ask-redis.mjs'
import { type DevTask, newFolder, removeFolder, run, script } from './dev-task.fixture.ts'

let folder: string
let tasks: DevTask[]

beforeEach(async () => {
  folder = await newFolder()
  tasks = []
})

afterEach(async () => {
  for (const task of tasks) {
    task.child.kill('SIGTERM')
    await task.ended
  }
  await removeFolder(folder)
})

/** FANTAIL_STACK_PID turns off the announcement, which would wait for services. */
function startTask(env: NodeJS.ProcessEnv = {}): DevTask {
  const own = { FANTAIL_DATA_DIR: folder, FANTAIL_STACK_PID: '1', FANTAIL_REDIS_SERVER: redisServerPath() }
  const task = run(process.execPath, [script('dev-stack.mjs')], folder, { REDIS_URL: '', ...own, ...env })
  tasks.push(task)
  return task
}

const urlFile = () => join(folder, 'redis.url')

/** Resolves with the port in `redis.url`. */
async function up(): Promise<number> {
  await waitFor(() => existsSync(urlFile()), { what: 'redis.url' })
  return Number(new URL(readFileSync(urlFile(), 'utf8').trim()).port)
}

async function stop(task: DevTask): Promise<number | string> {
  task.child.kill('SIGINT')
  return task.ended
}

async function pidOf(port: number): Promise<number> {
  return Number(/process_id:(\d+)/.exec((await askRedis(port, 'INFO server')) ?? '')?.[1])
}

describe('the local Redis', () => {
  it('names its address once it answers, and takes it back at the end', async () => {
    const task = startTask()
    expect(await answersPing(await up())).toBe(true)

    expect(await stop(task)).toBe(0)
    expect(existsSync(urlFile())).toBe(false)
  })

  it('has its data and its port again at the next start', async () => {
    const first = startTask()
    const port = await up()
    await askRedis(port, 'SET greeting hello')
    await stop(first)
    startTask()

    expect(await up()).toBe(port)
    expect(await askRedis(port, 'GET greeting')).toBe('$5\r\nhello\r\n')
  })

  it('comes back on the same port with what was acknowledged, when it is killed', async () => {
    startTask()
    const port = await up()
    await askRedis(port, 'SET greeting hello')
    const pid = await pidOf(port)
    process.kill(pid, 'SIGKILL')
    await waitFor(async () => (await answersPing(port)) && (await pidOf(port)) !== pid, {
      what: 'a new Redis',
    })

    expect(await askRedis(port, 'GET greeting')).toBe('$5\r\nhello\r\n')
  })

  it('refuses a data folder that another stack uses', async () => {
    startTask()
    const port = await up()
    const second = startTask()

    expect(await second.ended).toBe(1)
    expect(second.output()).toContain(`another local stack uses ${folder}`)
    expect(await answersPing(port)).toBe(true)
  })

  it('removes an address that a crash left behind before it starts', async () => {
    await writeFile(urlFile(), 'redis://127.0.0.1:1\n')
    const before = statSync(urlFile()).ino
    startTask()
    await waitFor(() => existsSync(urlFile()) && statSync(urlFile()).ino !== before, {
      what: 'a new redis.url',
    })

    expect(await answersPing(await up())).toBe(true)
  })

  it('starts none where REDIS_URL says which to use', async () => {
    const task = startTask({ REDIS_URL: 'redis://127.0.0.1:1' })
    await waitFor(() => task.output().includes('using the Redis of the settings'))

    expect(await stop(task)).toBe(0)
    expect(existsSync(join(folder, 'data'))).toBe(false)
  })
})
