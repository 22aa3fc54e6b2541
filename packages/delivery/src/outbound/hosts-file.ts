/**
 * Reads the names of /etc/hosts. It looks at most once a second whether the file has changed, and then reads it again.
 */
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

const CHECK_MS = 1_000

export class HostsFile {
  readonly #path: string
  #names = new Map<string, string[]>()
  #version = ''
  #checkedAt = Number.NEGATIVE_INFINITY
  #checking: Promise<void> | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Addresses of a lower-case name in the file's order. Undefined if the file does not have the name. */
  async lookup(name: string, now: number): Promise<string[] | undefined> {
    if (now - this.#checkedAt >= CHECK_MS) {
      this.#checkedAt = now
      this.#checking = this.#check()
    }
    await this.#checking
    return this.#names.get(name)
  }

  async #check(): Promise<void> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version === this.#version) return
      this.#names = parseHosts(await readFile(this.#path, 'utf8'))
      this.#version = version
    } catch {
      // The file is missing or cannot be read. Like other resolvers, treat it as a file without names.
      this.#names = new Map()
      this.#version = ''
    }
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address, ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!address || isIP(address) === 0) continue
    for (const alias of aliases) {
      const name = alias.toLowerCase()
      const known = names.get(name)
      if (!known) names.set(name, [address])
      else if (!known.includes(address)) known.push(address)
    }
  }
  return names
}
