// @ts-check
/**
 * Runs an unpacked image as a container runtime would: its entry command, its environment, its user, and a root that
 * nobody can write to. `image-life.mjs ROOT SETTINGS REDIS`: SETTINGS is the file with the image's `config`, REDIS a
 * program of this machine. Runs apart (`runApart`).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { run, StepError, say } from '../../bootstrap/steps.mjs'
import { createDelivery } from './delivery.mjs'

const [root = '', settings = '', redis = ''] = process.argv.slice(2)
const { User, Entrypoint, Cmd, Env, Healthcheck } = JSON.parse(readFileSync(settings, 'utf8'))
const env = {
  ...Object.fromEntries(Env.map((/** @type {string} */ line) => line.split(/=(.*)/s).slice(0, 2))),
  REDIS_URL: 'redis://127.0.0.1:6390',
  FANTAIL_ALLOW_VOLATILE_REDIS: 'true',
  FANTAIL_OUTBOUND_ALLOW: '127.0.0.1',
}
const [user = '', group = ''] = User.split(':')
if (!(Number(user) > 0)) throw new StepError(`the image's user is ${User}`)

// A runtime gives devices to every container.
await run('mount', ['--rbind', '/dev', `${root}/dev`])
await run('mount', ['--rbind', root, root])
await run('mount', ['-o', 'remount,bind,ro', root])
const server = spawn(redis, ['--port', '6390', '--save', ''], { stdio: 'ignore' })
const [program = '', ...words] = inImage([...Entrypoint, ...Cmd])
const log = openSync(`${settings}.log`, 'a')
const fantail = spawn(program, words, { env, stdio: ['ignore', log, log] })
const ended = once(fantail, 'exit')
const delivery = await createDelivery((words, more) => runInImage([...Entrypoint, ...words], more)).catch(
  (error) => {
    console.error(readFileSync(`${settings}.log`, 'utf8'))
    throw error
  },
)
delivery.close()
say(`a message was delivered ${delivery.firstMs} ms after the start of the container`)
await runInImage(Healthcheck.Test.slice(1))
fantail.kill('SIGTERM')
const [code] = await ended
if (code !== 0) throw new StepError(`the container ended with ${code}`)
server.kill('SIGTERM')

/** The working directory is the root, because no command depends on it. @param {string[]} command */
function inImage(command) {
  return ['/usr/sbin/chroot', `--userspec=${user}:${group}`, '--groups=', root, ...command]
}

/** @param {string[]} command @param {NodeJS.ProcessEnv} [more] */
function runInImage(command, more) {
  const [first = '', ...rest] = inImage(command)
  return run(first, rest, { env: { ...env, ...more } })
}
