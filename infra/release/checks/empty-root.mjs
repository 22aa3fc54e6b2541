// @ts-check
/** Debian's smallest system in a folder, for checks that install something. Needs root, debootstrap and unshare. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { privateDir } from '../../bootstrap/paths.mjs'
import { run, StepError, say, show } from '../../bootstrap/steps.mjs'

const RELEASE = 'bookworm'
const MIRROR = 'http://deb.debian.org/debian'

/**
 * Lends a fresh system and removes it. Nothing in it starts services by itself.
 * @template T
 * @param {(root: string) => Promise<T>} use @returns {Promise<T>}
 */
export async function withEmptyRoot(use) {
  const kept = await keptRoot()
  const root = mkdtempSync(join(tmpdir(), 'fantail-root-'))
  try {
    await run('cp', ['-a', `${kept}/.`, root])
    writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    return await use(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Made once, because it takes half a minute. */
async function keptRoot() {
  const kept = join(privateDir, 'roots', RELEASE)
  if (existsSync(kept)) return kept
  say(`making an empty Debian ${RELEASE} in ${kept}`)
  const made = `${kept}.${process.pid}`
  mkdirSync(dirname(kept), { recursive: true })
  try {
    await run('debootstrap', ['--variant=minbase', RELEASE, made, MIRROR])
    renameSync(made, kept)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  return kept
}

/**
 * Runs a module of this folder with processes, mounts and a loopback network of its own: it meets no other server's
 * port, and nothing that it starts or mounts is left behind. The module's first word is the root.
 * @param {string} module @param {string[]} words
 */
export async function runApart(module, words) {
  const [root = ''] = words
  const path = fileURLToPath(new URL(module, import.meta.url))
  const begin = 'ip link set lo up && mount -t proc proc "$1/proc" && shift && exec "$@"'
  const apart = ['--net', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc']
  const code = await show('unshare', [
    ...apart,
    'sh',
    '-c',
    begin,
    'sh',
    root,
    process.execPath,
    path,
    ...words,
  ])
  if (code !== 0) throw new StepError(`the check ${module} failed, as the lines above say`)
}

/** @param {string} root @param {string[]} words */
export function runInRoot(root, words) {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' }
  return run('chroot', [root, ...words], { env: { ...proxies(), ...env } })
}

/** apt needs the machine's way out. */
function proxies() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => /_proxy$/i.test(name)))
}
