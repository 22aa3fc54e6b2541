// @ts-check
/**
 * Checks a Debian package: lintian finds no error, and, for this machine's architecture, the package lives as
 * `debian-life.mjs` says. By hand: `node infra/release/checks/debian-check.mjs DEB`.
 */
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, say } from '../../bootstrap/steps.mjs'
import { runApart, runInRoot, withEmptyRoot } from './empty-root.mjs'

/** @param {string} deb */
export async function checkDebianPackage(deb) {
  say(`checking ${deb}`)
  await run('lintian', ['--fail-on', 'error', '--allow-root', deb])
  const arch = await run('dpkg-deb', ['--field', deb, 'Architecture'])
  if (arch !== (await run('dpkg', ['--print-architecture']))) return
  await withEmptyRoot(async (root) => {
    copyFileSync(deb, join(root, 'fantail.deb'))
    await writeNewer(deb, join(root, 'newer.deb'))
    await runInRoot(root, ['apt-get', 'update', '-q'])
    await runInRoot(root, ['apt-get', 'install', '-q', '-y', '--no-install-recommends', '/fantail.deb'])
    await runApart('debian-life.mjs', [root, '/newer.deb'])
  })
}

/** The same package with a higher version and another redis.conf. @param {string} deb @param {string} newer */
async function writeNewer(deb, newer) {
  const work = mkdtempSync(join(tmpdir(), 'fantail-newer-'))
  try {
    await run('dpkg-deb', ['--raw-extract', deb, work])
    const control = join(work, 'DEBIAN/control')
    writeFileSync(control, readFileSync(control, 'utf8').replace(/^(Version: .*)$/m, '$1+newer'))
    appendFileSync(join(work, 'etc/fantail/redis.conf'), '# A newer package has this line.\n')
    await run('dpkg-deb', ['-Zgzip', '-z1', '--build', work, newer])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (import.meta.main) await checkDebianPackage(process.argv[2] ?? '')
