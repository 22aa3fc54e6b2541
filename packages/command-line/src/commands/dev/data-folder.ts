/**
 * The folder in which `fantail dev` keeps its data. One stack at a time uses it. A socket is the lock, because the
 * system closes it when its owner ends, however that happens.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandError } from '../../output/exit-codes.ts'

/** Makes the folder and locks it. Resolves with a function that gives the folder back. */
export async function openDataFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await ignoreInGit(folder)
  const lock = await lockOf(await realpath(folder))
  if (!lock) {
    throw new CommandError(
      'conflict',
      `another \`fantail dev\` uses the data in ${folder}`,
      'Stop it, choose another folder with --data, or keep no data with --ephemeral.',
    )
  }
  return async () => {
    lock.close()
  }
}

/** Makes git ignore the folder, wherever it is. */
async function ignoreInGit(folder: string): Promise<void> {
  const file = join(folder, '.gitignore')
  await access(file).catch(() => writeFile(file, '*\n'))
}

/** undefined: somebody else has it. */
async function lockOf(folder: string): Promise<Server | undefined> {
  const name = `fantail-dev-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`
  // Linux has sockets without files, so nothing stays after a crash.
  if (process.platform === 'linux') return listen(`\0${name}`)
  const path = join(tmpdir(), name)
  const lock = await listen(path)
  if (lock || (await answers(path))) return lock
  await rm(path, { force: true })
  return listen(path)
}

async function listen(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy()).unref()
  try {
    server.listen(path)
    await once(server, 'listening')
    return server
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
    throw error
  }
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false // Its owner has ended.
  } finally {
    socket.destroy()
  }
}
