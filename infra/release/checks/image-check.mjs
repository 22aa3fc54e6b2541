// @ts-check
/**
 * Checks an image layout: every blob has its digest, and this machine's image, unpacked into an empty folder, delivers
 * a message as `image-life.mjs` says. By hand: `node infra/release/checks/image-check.mjs LAYOUT.tar`.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, StepError, say } from '../../bootstrap/steps.mjs'
import { provideRedisServer } from '../../bootstrap/tools/redis-binary.mjs'
import { runApart } from './empty-root.mjs'

/** @typedef {import('../image/oci-image.mjs').Descriptor} Descriptor */

/** @param {string} layout a tar archive */
export async function checkImage(layout) {
  say(`checking ${layout}`)
  const work = mkdtempSync(join(tmpdir(), 'fantail-image-'))
  try {
    await run('tar', ['-xf', layout, '-C', work])
    const [all] = JSON.parse(readFileSync(join(work, 'index.json'), 'utf8')).manifests
    checkBlobs(work)
    const arch = await run('dpkg', ['--print-architecture'])
    const one = read(work, all).manifests.find(
      (/** @type {{ platform: { architecture: string } }} */ { platform }) => platform.architecture === arch,
    )
    const { config, layers } = read(work, one)
    const root = join(work, 'root')
    mkdirSync(root)
    for (const layer of layers) await run('tar', ['-xzf', blobOf(work, layer), '-C', root])
    for (const folder of ['proc', 'dev']) mkdirSync(join(root, folder))
    const settings = join(work, 'settings.json')
    writeFileSync(settings, JSON.stringify(read(work, config).config))
    const redis = await provideRedisServer(process.env)
    if (redis.kind !== 'binary')
      throw new StepError('the check of an image needs redis-server on this machine')
    await runApart('image-life.mjs', [root, settings, redis.path])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** @param {string} work */
function checkBlobs(work) {
  const folder = join(work, 'blobs/sha256')
  for (const name of readdirSync(folder)) {
    const found = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
    if (found !== name) throw new StepError(`the blob ${name} has the digest ${found}`)
  }
}

/** @param {string} work @param {Descriptor} descriptor */
function blobOf(work, { digest }) {
  return join(work, 'blobs', ...digest.split(':'))
}

/** @param {string} work @param {Descriptor} descriptor */
function read(work, descriptor) {
  return JSON.parse(readFileSync(blobOf(work, descriptor), 'utf8'))
}

if (import.meta.main) await checkImage(process.argv[2] ?? '')
