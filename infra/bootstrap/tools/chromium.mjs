// @ts-check
/** Chromium, for tests of the console: the one on PATH, or else unpacked packages of Debian. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../lock.mjs'
import { privateDir } from '../paths.mjs'
import { isExecutable, onPath, StepError, say } from '../steps.mjs'
import { unpackDebianPackages } from './debian-packages.mjs'

/** @typedef {{ path: string, env: Record<string, string> }} Chromium `env`: settings that the binary needs */

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome']
const dir = join(privateDir, 'chromium')
const unpacked = join(dir, 'bin', 'chromium')
const fontSettings = join(dir, 'fonts.conf')

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Chromium | string>} the binary, or why there is none
 */
export async function provideChromium(env) {
  const found = find(env)
  if (found) return found
  const missing = ['apt-get', 'dpkg'].filter((name) => !onPath(name, env.PATH))
  if (missing.length > 0) return `no chromium on PATH and no ${missing.join(', no ')} to fetch it with`
  try {
    await withLock(join(privateDir, 'fetch-chromium.lock'), () => fetchChromium(env))
  } catch (error) {
    if (error instanceof StepError) return error.message
    throw error
  }
  return find(env) ?? 'the packages hold no Chromium'
}

/** @param {NodeJS.ProcessEnv} env */
async function fetchChromium(env) {
  if (find(env)) return
  say(`fetching Chromium by apt-get, to unpack under ${dir} (nothing is installed)`)
  await unpackDebianPackages({
    packages: ['chromium', 'fonts-dejavu-core'],
    commands: ['chromium'],
    dir,
    // Not from `usr/bin`: Debian's start script there reads files that only an installation has.
    places: ['usr/lib/chromium'],
    env,
  })
  writeFileSync(fontSettings, fontsOf(join(dir, 'root', 'usr', 'share', 'fonts')))
  mkdirSync(join(dir, 'fonts'), { recursive: true })
}

/** @param {string} fonts the unpacked fonts, so that pages look alike on every machine */
function fontsOf(fonts) {
  return [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    `<fontconfig><dir>${fonts}</dir><cachedir>${join(dir, 'fonts')}</cachedir></fontconfig>`,
    '',
  ].join('\n')
}

/** @param {NodeJS.ProcessEnv} env @returns {Chromium | undefined} */
function find(env) {
  const installed = COMMANDS.map((name) => onPath(name, env.PATH)).find((path) => path !== undefined)
  if (installed) return { path: installed, env: {} }
  const isWhole = isExecutable(unpacked) && existsSync(fontSettings)
  return isWhole ? { path: unpacked, env: { FONTCONFIG_FILE: fontSettings } } : undefined
}
