/** The blocks of archives as files in a folder. A file is complete or does not exist (folder-sink.ts). */
import { access, constants, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeWhole } from '../streams/folder-sink.ts'

export class BlockFolder {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async put(name: string, data: Buffer): Promise<void> {
    await this.#check()
    await writeWhole(this.#folder, name, data)
  }

  async get(name: string): Promise<Buffer | null> {
    await this.#check()
    return readFile(join(this.#folder, name)).catch(orNull)
  }

  async remove(name: string): Promise<void> {
    await this.#check()
    await rm(join(this.#folder, name), { force: true })
    // The folders of a day and of a topic are removed with their last file.
    for (let at = dirname(name); at !== '.'; at = dirname(at)) {
      if (!(await rmdir(join(this.#folder, at)).then(yes, no))) return
    }
  }

  /** A folder that is not mounted has no files either. It must not look like one without blocks. */
  async #check(): Promise<void> {
    await access(this.#folder, constants.W_OK | constants.X_OK)
  }
}

const yes = () => true
const no = () => false

function orNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
