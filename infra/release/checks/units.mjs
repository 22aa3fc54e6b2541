// @ts-check
/** Runs the units of an installed system as systemd would, as far as their lines say: user, settings and command. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { runInRoot } from './empty-root.mjs'

/** @param {string} root @param {string} folder of the unit files, in the root */
export function createUnits(root, folder) {
  /** @type {Map<string, import('node:child_process').ChildProcess>} */
  const running = new Map()

  /** @param {string} name such as `fantail-worker@1` */
  async function start(name) {
    const [, base = '', instance = ''] = /^([^@]+@?)(.*)$/.exec(name) ?? []
    const text = readFileSync(join(root, folder, `${base}.service`), 'utf8').replaceAll('%i', instance)
    const firstOf = (/** @type {string} */ key) => valuesOf(text, key)[0] ?? ''
    const user = firstOf('User')
    const state = firstOf('StateDirectory')
    if (state !== '')
      await runInRoot(root, [
        'install',
        '-d',
        '-m',
        firstOf('StateDirectoryMode'),
        '-o',
        user,
        `/var/lib/${state}`,
      ])
    const place = ['env', '-C', firstOf('WorkingDirectory') || '/']
    const words = [`--userspec=${user}:${user}`, root, ...place, ...firstOf('ExecStart').split(' ')]
    const log = openSync(join(root, `${name}.log`), 'a')
    const child = spawn('chroot', words, { stdio: ['ignore', log, log], env: environmentOf(root, text) })
    closeSync(log)
    running.set(name, child)
  }

  /** @param {string} name */
  async function stop(name) {
    const child = running.get(name)
    if (!child) throw new Error(`${name} does not run`)
    const isRunning = child.exitCode === null && child.signalCode === null
    const ended = isRunning ? once(child, 'exit') : [child.exitCode]
    child.kill('SIGTERM')
    const [code] = await ended
    running.delete(name)
    if (code !== 0) throw new Error(`${name} ended with ${code}:\n${logOf(name)}`)
  }

  /** @param {string} name */
  function logOf(name) {
    return readFileSync(join(root, `${name}.log`), 'utf8')
      .split('\n')
      .slice(-30)
      .join('\n')
  }
  return { start, stop, logs: () => [...running.keys()].map(logOf).join('\n') }
}

/** @param {string} root @param {string} text of a unit */
function environmentOf(root, text) {
  const files = valuesOf(text, 'EnvironmentFile').map((path) => settingsIn(join(root, path)))
  const own = valuesOf(text, 'Environment').map((line) => line.split(/=(.*)/s).slice(0, 2))
  return { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...Object.assign({}, ...files), ...Object.fromEntries(own) }
}

/** @param {string} path @returns {Record<string, string>} */
export function settingsIn(path) {
  return /** @type {Record<string, string>} */ (parseEnv(readFileSync(path, 'utf8')))
}

/** @param {string} text @param {string} key */
function valuesOf(text, key) {
  return [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}
