// @ts-check
/**
 * The life of an installed Debian package: its units deliver a message, an upgrade keeps data and settings, a removal
 * keeps them too, and a purge deletes everything. `debian-life.mjs ROOT NEWER`: the package is installed in ROOT, and
 * NEWER is a newer package there, with another redis.conf. Runs apart (`runApart`).
 */
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { say } from '../../bootstrap/steps.mjs'
import { apiReady, createDelivery } from './delivery.mjs'
import { runInRoot } from './empty-root.mjs'
import { createUnits, settingsIn } from './units.mjs'

const SERVICES = ['fantail-api', 'fantail-worker@1', 'fantail-redrive']
const ENV = '/etc/fantail/fantail.env'
const CONF = '/etc/fantail/redis.conf'
const DATA = '/var/lib/fantail-redis'
const OWN_LINE = 'maxmemory 300mb\n'

const [root = '', newer = ''] = process.argv.slice(2)
const at = (/** @type {string} */ path) => join(root, path)
const units = createUnits(root, 'usr/lib/systemd/system')

try {
  await checkLife()
} catch (error) {
  console.error(units.logs())
  throw error
}

async function checkLife() {
  expect('rights of the settings', (statSync(at(ENV)).mode & 0o777).toString(8), '640')
  expect('bytes of the master key', Buffer.from(masterKey(), 'base64').length, 32)
  const enabled = readdirSync(at('/etc/systemd/system/multi-user.target.wants')).filter(isOurs).sort()
  const wanted = ['fantail-redis', ...SERVICES].map((unit) => `${unit}.service`).sort()
  expect('the units that start with the machine', enabled, wanted)
  // The operator's edits. The receiver of this check has a private address.
  const edited = readFileSync(at(ENV), 'utf8').replace(/^(FANTAIL_OUTBOUND_ALLOW)=/m, '$1=127.0.0.1')
  writeFileSync(at(ENV), edited)
  appendFileSync(at(CONF), OWN_LINE)

  for (const unit of ['fantail-redis', ...SERVICES]) await units.start(unit)
  const delivery = await createDelivery(fantail)
  say(`a message was delivered ${delivery.firstMs} ms after the units had started`)

  await runInRoot(root, ['dpkg', '--force-confold', '--install', newer])
  expect('the edited settings', readFileSync(at(ENV), 'utf8'), edited)
  expect('the end of the edited redis.conf', readFileSync(at(CONF), 'utf8').endsWith(OWN_LINE), true)
  for (const unit of SERVICES) await units.stop(unit)
  for (const unit of SERVICES) await units.start(unit)
  await apiReady()
  await delivery.deliver('from the newer package')
  delivery.close()

  for (const unit of [...SERVICES, 'fantail-redis']) await units.stop(unit)
  await runInRoot(root, ['dpkg', '--remove', 'fantail'])
  const kept = [ENV, CONF, DATA, '/usr/bin/fantail', '/usr/lib/fantail']
  expect(
    'what a removal leaves',
    kept.filter((path) => existsSync(at(path))),
    [ENV, CONF, DATA],
  )
  await runInRoot(root, ['dpkg', '--purge', 'fantail'])
  const places = ['etc', 'usr', 'var'].map((place) => `/${place}`)
  expect('what a purge leaves', await runInRoot(root, ['find', ...places, '-name', '*fantail*']), '')
  expect('the user after a purge', /^fantail:/m.test(readFileSync(at('/etc/passwd'), 'utf8')), false)
  say('an upgrade kept data and settings, a removal too, and a purge left nothing')
}

/** @param {string} name */
function isOurs(name) {
  return name.startsWith('fantail')
}

function masterKey() {
  return settingsIn(at(ENV)).FANTAIL_MASTER_KEY ?? ''
}

/** The command finds the settings itself. @type {import('./delivery.mjs').CommandLine} */
function fantail(words, more = {}) {
  const settings = Object.entries(more).map(([name, value]) => `${name}=${value}`)
  return runInRoot(root, ['env', ...settings, 'fantail', ...words])
}

/** @param {string} what @param {unknown} found @param {unknown} wanted */
function expect(what, found, wanted) {
  if (!isDeepStrictEqual(found, wanted))
    throw new Error(`${what}: ${JSON.stringify(found)}, and not ${JSON.stringify(wanted)}`)
}
