// @ts-check
/** Starts the local Redis with `redis.conf`. Only its warnings and its last output are shown. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../bootstrap/paths.mjs'
import { spawnGuarded } from './guard.mjs'

const conf = join(root, 'infra', 'redis', 'redis.conf')

/**
 * @param {import('../bootstrap/tools/redis-binary.mjs').RedisServer} server
 * @param {{ port: number, data: string }} place
 */
export function launchRedis(server, { port, data }) {
  const [command, args] =
    server.kind === 'binary'
      ? [server.path, [conf, '--port', String(port), '--dir', data]]
      : ['docker', dockerWords(server.image, { port, data })]
  const child = spawnGuarded(command, args)
  for (const stream of [child.stdout, child.stderr]) if (stream) forward(stream)
  return child
}

/** @param {string} image @param {{ port: number, data: string }} place */
function dockerWords(image, { port, data }) {
  const name = `fantail-redis-${createHash('sha256').update(data).digest('hex').slice(0, 12)}`
  // Removes a container that a crash of ours left running.
  spawnSync('docker', ['rm', '-f', name], { stdio: 'ignore' })
  const user = process.getuid ? ['--user', `${process.getuid()}:${process.getgid?.()}`] : []
  const mounts = ['-v', `${data}:/data`, '-v', `${conf}:/redis.conf:ro`]
  const publish = ['-p', `127.0.0.1:${port}:6379`]
  // In the container, Redis must listen on the container's address. Only a loopback port leads to it.
  const settings = [
    'redis-server',
    '/redis.conf',
    '--port',
    '6379',
    '--bind',
    '0.0.0.0',
    '--protected-mode',
    'no',
    '--dir',
    '/data',
  ]
  return ['run', '--rm', '--name', name, ...user, ...publish, ...mounts, image, ...settings]
}

/**
 * Passes on the lines of Redis that matter: warnings, which Redis marks with `#`, and the lines before its log is set
 * up, which have no mark.
 * @param {NodeJS.ReadableStream} stream
 */
function forward(stream) {
  createInterface({ input: stream }).on('line', (line) => {
    if (line.trim() !== '' && !/^\d+:\S+ .*\d{4} [\d:.]+ [*.-] /.test(line)) console.log(line)
  })
}
