/**
 * Writes records to files in a folder. A file is complete or does not exist: it is written under another name, flushed
 * to the disk, and then renamed. A write that hangs counts until it ends, also after its attempt. Files hold messages,
 * so only the user of the process may read them.
 */
import { randomUUID } from 'node:crypto'
import { access, constants, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AttemptResult } from '@fantail/contracts'
import { attemptDeadline, untilAborted } from '../bounds/attempt-deadline.ts'
import { RequestQuota } from '../bounds/request-quota.ts'
import { failure } from '../http/attempt-failure.ts'
import { OBJECT_BYTES_MAX, OBJECT_RECORDS_MAX, objectBody, objectName } from './sink-objects.ts'
import type { PutResults, StreamRecord, StreamSink } from './stream-sink.ts'

interface FolderSinkOptions {
  /** The folder, which must exist. */
  folder: string
  streamName: string
  lingerMs: number
  /** Tests set their own. */
  write?: (folder: string, name: string, body: Buffer) => Promise<void>
}

/**
 * Writes to folders of streams that a process has under way. Past it: a batch waits. A file system over the network
 * may hang. Each of its operations then keeps a thread of libuv, which has four. Look-ups of host names need these
 * threads too.
 */
const FOLDER_WRITES_MAX = 2
/**
 * Writes to one folder of streams that a process has under way. Past it: a batch waits. If one folder hangs, another
 * folder can still be written.
 */
const WRITES_PER_FOLDER_MAX = 1
/** All sinks of the process share this quota. */
const FOLDER_QUOTA = new RequestQuota({ inAll: FOLDER_WRITES_MAX, ofOne: WRITES_PER_FOLDER_MAX })
/** How long a batch waits until it may write to a folder. Past it: it is not written now, and not counted. */
const FOLDER_WAIT_MS_MAX = 2_000

/** The status of a stored record, in logs and metrics. */
const STORED = 200

export class FolderSink implements StreamSink {
  readonly recordsMax = OBJECT_RECORDS_MAX
  readonly bytesMax = OBJECT_BYTES_MAX
  readonly recordBytesMax = OBJECT_BYTES_MAX
  readonly lingerMs: number
  readonly credential: string
  readonly provider: string
  readonly #options: FolderSinkOptions

  constructor(options: FolderSinkOptions) {
    this.lingerMs = options.lingerMs
    this.credential = `folder:${options.folder}`
    this.provider = this.credential
    this.#options = options
  }

  async put(records: readonly StreamRecord[], timeoutMs: number): Promise<PutResults> {
    const startedAt = performance.now()
    const durationMs = () => performance.now() - startedAt
    const signal = attemptDeadline(timeoutMs)
    const leave = await FOLDER_QUOTA.take(this.#options.folder, Math.min(FOLDER_WAIT_MS_MAX, timeoutMs / 2))
    if (!leave)
      return records.map(() => failure('service_limit', 'earlier writes to folders have not ended', 0))
    const writing = this.#write(records, durationMs).finally(leave)
    const late = () =>
      failure('timeout', `the folder did not take the file within ${timeoutMs} ms`, durationMs())
    const result = await untilAborted(signal, writing).catch(late)
    return records.map(() => result)
  }

  /** Never rejects. */
  async #write(records: readonly StreamRecord[], durationMs: () => number): Promise<AttemptResult> {
    const { folder, streamName, write = writeWhole } = this.#options
    const missing = await access(folder, constants.W_OK | constants.X_OK).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    )
    if (missing !== undefined) {
      const detail = `the folder of the stream ${streamName} cannot be written to: ${missing}`
      return { kind: 'misconfigured', credential: this.credential, detail, durationMs: durationMs() }
    }
    const name = objectName(streamName, records)
    try {
      await write(folder, name, await objectBody(records))
      return {
        kind: 'response',
        statusCode: STORED,
        durationMs: durationMs(),
        text: JSON.stringify({ name }),
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return failure('storage', `the file ${name}: ${code ?? message}`, durationMs())
    }
  }
}

/** Writes a file that is complete and on the disk when this resolves. Rejects if not, and leaves nothing behind. */
export async function writeWhole(root: string, name: string, body: Buffer): Promise<void> {
  const path = join(root, name)
  const folder = dirname(path)
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (made !== undefined) await syncAbove(folder, made)
  const partial = join(folder, `.${randomUUID()}.partial`)
  try {
    await writeSynced(partial, body)
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  await sync(folder)
}

async function writeSynced(path: string, body: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(body)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Flushes the names of new folders to the disk, so that they survive a loss of power. `made`: the outermost new folder.
 */
async function syncAbove(folder: string, made: string): Promise<void> {
  for (let at = folder; at.length >= made.length; at = dirname(at)) await sync(dirname(at))
}

/** Flushes the names of a folder's files to the disk, so that they survive a loss of power. */
async function sync(folder: string): Promise<void> {
  const file = await open(folder, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
